"""npu_kv_rmsnorm_rope_cache: norm and rotary embedding of MLA, into the caches.

Sources, named in the comments below:
  page         op-plugin, docs/zh/custom_APIs/torch_npu, the page
               "torch_npu-npu_kv_rmsnorm_rope_cache.md"
  C++          op-plugin, op_plugin/ops/opapi/KvRmsNormRopeCacheNpuOpApi.cpp
  meta         torch_npu 2.13.0, op_plugin/meta/_meta_registrations.py
  derivatives  op-plugin, op_plugin/config/derivatives.yaml
  test         op-plugin, test/test_custom_ops/test_npu_kv_rms_norm_rope_cache.py
"""
import torch

operator = "npu_kv_rmsnorm_rope_cache"
# The page's prototype has no v, and nothing here says that the caches are
# written; page and C++ do.
schema = (
    "npu_kv_rmsnorm_rope_cache(Tensor kv, Tensor gamma, Tensor cos, Tensor sin, "
    "Tensor index, Tensor k_cache, Tensor ckv_cache, *, "
    "Tensor? k_rope_scale=None, Tensor? c_kv_scale=None, "
    "Tensor? k_rope_offset=None, Tensor? c_kv_offset=None, Tensor? v=None, "
    "float epsilon=1e-5, str cache_mode='Norm', bool is_output_kv=False) "
    "-> (Tensor, Tensor, Tensor, Tensor)"
)
summary = "root mean square norm and rotary embedding of MLA, written into caches"
source = "op-plugin docs: torch_npu-npu_kv_rmsnorm_rope_cache.md"

# derivatives: no entry, and no fallback: gradients are lost with a warning.
autograd = "silent"
output_differentiability = (True, True, True, True)

products = ("Atlas A3", "Atlas A2")  # page, table of products
# the first two have no v
versions = "2.5.1, 2.7.1, 2.13.0, 2.14.0"


def limits(kv, gamma, cos, sin, index, k_cache, ckv_cache, k_rope_scale, c_kv_scale,
           k_rope_offset, c_kv_offset, v, epsilon, cache_mode, is_output_kv):
    # page, parameter kv: [B, 1, S, width] of the half types.
    assert kv.dtype in (torch.float16, torch.bfloat16), "kv is float16 or bfloat16"
    assert kv.dim() == 4, "kv has 4 dimensions"
    assert kv.shape[1] == 1, "kv has one head"
    # page, note: 576 is 512 for the norm and 64 for the rotation. C++ and test:
    # with v, kv is 192 wide and v 128.
    assert kv.shape[3] == (576 if v is None else 192), "kv is 576 wide, 192 with v"
    if v is not None:
        assert v.dtype == kv.dtype, "v has kv's dtype"
        assert v.dim() == 4, "v has 4 dimensions"
        assert v.shape[:3] == kv.shape[:3], "v has kv's shape but for the width"
        assert v.shape[3] == 128, "v is 128 wide"
    # page, parameter gamma.
    assert gamma.dtype in (torch.float16, torch.bfloat16), (
        "gamma is float16 or bfloat16"
    )
    assert gamma.dim() == 1, "gamma has 1 dimension"
    assert gamma.shape[0] == (512 if v is None else 192), "gamma has 512, 192 with v"
    # page, parameters cos and sin: [B, 1, S, 64].
    assert cos.dtype in (torch.float16, torch.bfloat16), "cos is float16 or bfloat16"
    assert cos.dim() == 4, "cos has 4 dimensions"
    assert cos.shape[:3] == kv.shape[:3], "cos has kv's shape but for the width"
    assert cos.shape[3] == 64, "cos is 64 wide"
    assert sin.dtype in (torch.float16, torch.bfloat16), "sin is float16 or bfloat16"
    assert sin.shape == cos.shape, "sin has the shape of cos"
    # page, parameter cache_mode.
    assert cache_mode in (
        "Norm", "PA", "PA_BNSD", "PA_NZ", "PA_BLK_BNSD", "PA_BLK_NZ"
    ), "cache_mode is one of those documented"
    # page, parameters k_cache and ckv_cache, and the rules of their shapes.
    assert k_cache.dim() == 4, "k_cache has 4 dimensions"
    assert k_cache.shape[3] == (64 if v is None else 192), "k_cache is 64, 192 with v"
    assert ckv_cache.dim() == 4, "ckv_cache has 4 dimensions"
    assert ckv_cache.shape[:3] == k_cache.shape[:3], (
        "ckv_cache has k_cache's shape but for the width"
    )
    assert ckv_cache.shape[3] == (512 if v is None else 128), (
        "ckv_cache is 512, 128 with v"
    )
    assert cache_mode != "Norm" or k_cache.shape[0] == kv.shape[0], (
        "the caches of Norm have a row a batch"
    )
    assert k_cache.shape[1 if cache_mode == "Norm" else 2] == 1, "the caches have one head"
    assert cache_mode != "Norm" or k_cache.shape[2] >= kv.shape[2], (
        "the caches of Norm are as long as kv"
    )
    assert cache_mode == "Norm" or (
        k_cache.shape[0] >= -(-kv.shape[2] // k_cache.shape[1]) * kv.shape[0]
    ), "there are blocks for all of kv"
    # page, parameter index: where each token goes, or each block.
    assert index.dtype == torch.int64, "index is int64"
    assert index.dim() == (2 if cache_mode == "Norm" else 1), (
        "index has 2 dimensions as Norm, else 1"
    )
    assert cache_mode in ("PA_BLK_BNSD", "PA_BLK_NZ") or (
        index.numel() == kv.shape[0] * kv.shape[2]
    ), "index has one element a token"
    assert cache_mode not in ("PA_BLK_BNSD", "PA_BLK_NZ") or (
        index.numel() == kv.shape[0] * -(-kv.shape[2] // k_cache.shape[1])
    ), "index has one element a block"
    # page, constraints: int8 caches with both scales, else half types.
    if k_rope_scale is None:
        assert c_kv_scale is None, "both scales are given, or none"
        assert k_cache.dtype in (torch.float16, torch.bfloat16), (
            "without scales the caches are float16 or bfloat16"
        )
    if k_rope_scale is not None:
        assert c_kv_scale is not None, "both scales are given, or none"
        assert k_cache.dtype == torch.int8, "with scales the caches are int8"
        assert k_rope_scale.dtype == torch.float32, "k_rope_scale is float32"
        assert k_rope_scale.dim() == 1, "k_rope_scale has 1 dimension"
        assert k_rope_scale.shape[0] == k_cache.shape[3], (
            "k_rope_scale is as wide as k_cache"
        )
    if c_kv_scale is not None:
        assert c_kv_scale.dtype == torch.float32, "c_kv_scale is float32"
        assert c_kv_scale.dim() == 1, "c_kv_scale has 1 dimension"
        assert c_kv_scale.shape[0] == ckv_cache.shape[3], (
            "c_kv_scale is as wide as ckv_cache"
        )
    assert ckv_cache.dtype == k_cache.dtype, "ckv_cache has k_cache's dtype"
    # page, constraints: not supported yet.
    assert k_rope_offset is None, "k_rope_offset is not supported"
    assert c_kv_offset is None, "c_kv_offset is not supported"


def _norm(x, gamma, epsilon):
    return x / torch.sqrt((x * x).mean(-1, keepdim=True) + epsilon) * gamma.float()


def _turn(x, cos, sin):
    even, odd = x[..., ::2], x[..., 1::2]
    halves, turned = torch.cat((even, odd), -1), torch.cat((-odd, even), -1)
    return halves * cos.float() + turned * sin.float()


def _slots(index, batch, length, block, cache_mode):
    """The slot of each token: negative means that it is left out."""
    if "BLK" not in cache_mode:
        return index.reshape(-1)
    token = torch.arange(length, device=index.device)
    pages = index.reshape(batch, -1)[:, token // block]
    slots = torch.div(pages, block, rounding_mode="floor") * block + token % block
    return torch.where(pages < 0, pages, slots).reshape(-1)


def _write(cache, values, index, cache_mode, scale):
    """values: [B, 1, S, width] in float32."""
    batch, _, length, width = values.shape
    values = values.reshape(-1, width)
    if scale is not None:
        values = torch.round(values * scale).clamp(-128, 127)
    values = values.to(cache.dtype)
    if cache_mode == "Norm":
        row = torch.arange(batch, device=index.device).repeat_interleave(length)
        place = cache.view(batch, -1, width)
        column = index.reshape(-1)
    else:
        blocks, block = cache.shape[:2]
        slots = _slots(index, batch, length, block, cache_mode)
        row = torch.div(slots, block, rounding_mode="floor")
        place, column = cache.view(blocks, block, width), slots % block
        if cache_mode.endswith("NZ"):  # columns in stripes of 32 bytes
            stripe = 16 if scale is None else 32
            place = cache.view(blocks, -1, block, stripe).transpose(1, 2)
            values = values.reshape(len(values), -1, stripe)
    kept = (column >= 0) & (row >= 0)
    place[row[kept], column[kept]] = values[kept]


def golden(kv, gamma, cos, sin, index, k_cache, ckv_cache, k_rope_scale=None,
           c_kv_scale=None, k_rope_offset=None, c_kv_offset=None, v=None,
           epsilon=1e-5, cache_mode="Norm", is_output_kv=False):
    """Returns k_cache and ckv_cache, written in place, and what was written.

    The last two have kv's dtype; without is_output_kv they are not written,
    here they are nan. Everything in float32 (test). Without v: ckv is the norm
    of the first 512, k the rotation of the last 64. With v: k is the norm of
    kv with its first 64 rotated, ckv is v.
    """
    x = kv.float()
    if v is None:
        first, k = _norm(x[..., :512], gamma, epsilon), _turn(x[..., 512:], cos, sin)
    else:
        first, k = v.float(), _norm(x, gamma, epsilon)
        k = torch.cat((_turn(k[..., :64], cos, sin), k[..., 64:]), -1)
    _write(k_cache, k, index, cache_mode, k_rope_scale)
    _write(ckv_cache, first, index, cache_mode, c_kv_scale)
    out = (k.to(kv.dtype), first.to(kv.dtype))
    if not is_output_kv or cache_mode == "Norm":
        out = tuple(torch.full_like(t, float("nan")) for t in out)
    return (k_cache, ckv_cache) + out
