"""npu_mrope: rotary position embedding with cos and sin read from a table.

Sources, named in the comments below:
  page         op-plugin, docs/zh/custom_APIs/torch_npu, the page
               "torch_npu-npu_mrope.md"
  C++          op-plugin, op_plugin/ops/opapi/RopeWithSinCosCacheKernelNpuOpApi.cpp
  meta         torch_npu 2.13.0, op_plugin/meta/_meta_registrations.py
  derivatives  op-plugin, op_plugin/config/derivatives.yaml
  test         op-plugin, test/test_custom_ops/test_npu_mrope.py
"""
import torch

operator = "npu_mrope"
schema = (
    "npu_mrope(Tensor positions, Tensor query, Tensor key, Tensor cos_sin_cache, "
    "int head_size, *, int[]? mrope_section=None, str? rotary_mode='half', "
    "str? cache_mode='default') -> (Tensor, Tensor)"
)
summary = "rotary embedding by position, of text or of text and images (M-RoPE)"
source = "op-plugin docs: torch_npu-npu_mrope.md"

# derivatives: no entry, and no fallback: gradients are lost with a warning.
autograd = "silent"
output_differentiability = (True, True)

products = ("Atlas A3", "Atlas A2")  # page, table of products
# 2.5.1 and 2.7.1 have no cache_mode.
versions = "2.5.1, 2.7.1, 2.13.0, 2.14.0"


def limits(positions, query, key, cos_sin_cache, head_size, mrope_section,
           rotary_mode, cache_mode):
    # page, parameter positions: a row of the table for each token.
    assert positions.dtype in (torch.int32, torch.int64), "positions are int32 or int64"
    assert positions.dim() in (1, 2), "positions have 1 or 2 dimensions"
    # page, parameters query and key: tokens by heads times head_size, one dtype.
    assert query.dtype in (torch.float16, torch.bfloat16, torch.float32), (
        "query is float16, bfloat16 or float32"
    )
    assert query.dim() == 2, "query has 2 dimensions"
    assert query.shape[0] == positions.shape[-1], "there is one position a token"
    assert query.shape[1] % head_size == 0, "query has whole heads"
    assert key.dtype == query.dtype, "key has query's dtype"
    assert key.dim() == 2, "key has 2 dimensions"
    assert key.shape[0] == query.shape[0], "key has query's tokens"
    assert key.shape[1] % head_size == 0, "key has whole heads"
    # page, parameter cos_sin_cache: cos beside sin, rotary_dim wide.
    assert cos_sin_cache.dtype == query.dtype, "cos_sin_cache has query's dtype"
    assert cos_sin_cache.dim() == 2, "cos_sin_cache has 2 dimensions"
    # page, constraints: rotary_dim at most head_size; both multiples of 32, of
    # float32 of 16.
    assert cos_sin_cache.shape[1] <= head_size, "cos_sin_cache is no wider than a head"
    assert head_size % 16 == 0, "head_size is a multiple of 16"
    assert query.dtype == torch.float32 or head_size % 32 == 0, (
        "head_size of a half type is a multiple of 32"
    )
    assert cos_sin_cache.shape[1] % 16 == 0, "cos_sin_cache's width is a multiple of 16"
    assert query.dtype == torch.float32 or cos_sin_cache.shape[1] % 32 == 0, (
        "cos_sin_cache's width of a half type is a multiple of 32"
    )
    # page, parameter mrope_section: which rows of positions count where.
    if mrope_section is None:
        assert positions.dim() == 1, "without mrope_section positions have 1 dimension"
        assert cache_mode != "interleave", (
            "cache_mode interleave takes an mrope_section of three"
        )
    if mrope_section is not None:
        assert tuple(mrope_section) in (
            (0, 0, 0), (16, 24, 24), (24, 20, 20), (8, 12, 12), (16, 16, 16, 16),
        ), "mrope_section is one of those documented"
        assert positions.dim() == 2 or sum(mrope_section) == 0, (
            "with mrope_section positions have 2 dimensions"
        )
        assert positions.dim() == 1 or sum(mrope_section) > 0, (
            "without mrope_section positions have 1 dimension"
        )
        assert positions.dim() == 1 or positions.shape[0] == len(mrope_section), (
            "positions have a row for each part of mrope_section"
        )
        # page, constraints: the parts add up to half of rotary_dim.
        assert sum(mrope_section) in (0, cos_sin_cache.shape[1] // 2), (
            "mrope_section adds up to half the width of cos_sin_cache"
        )
        # page, constraints: no interleaving of four parts, nor without parts.
        assert cache_mode != "interleave" or (
            len(mrope_section) == 3 and sum(mrope_section) > 0
        ), "cache_mode interleave takes an mrope_section of three"
    # C++ checks both. (The page calls the second "interleaved".)
    assert rotary_mode in (None, "half", "interleave"), (
        "rotary_mode is half or interleave"
    )
    assert cache_mode in (None, "default", "interleave"), (
        "cache_mode is default or interleave"
    )


def _mixed(table, section, cache_mode):
    """(parts, tokens, width) to (tokens, width): each column from its part."""
    if cache_mode != "interleave":
        parts = torch.split(table, list(section), -1)
        return torch.cat([part[i] for i, part in enumerate(parts)], -1)
    mixed = table[0].clone()
    for part in (1, 2):
        columns = slice(part, 3 * section[1], 3)
        mixed[:, columns] = table[part][:, columns]
    return mixed


def _turn(x, cos, sin, head_size, rotary_mode):
    width = 2 * cos.shape[-1]
    heads = x.reshape(x.shape[0], -1, head_size)
    turned, kept = heads[..., :width].float(), heads[..., width:]
    if rotary_mode == "interleave":
        first, second = turned[..., ::2], turned[..., 1::2]
    else:
        first, second = turned.chunk(2, -1)
    parts = (first * cos - second * sin, second * cos + first * sin)
    if rotary_mode == "interleave":
        y = torch.stack(parts, -1).flatten(-2)
    else:
        y = torch.cat(parts, -1)
    return torch.cat((y.to(x.dtype), kept), -1).reshape(x.shape)


def golden(positions, query, key, cos_sin_cache, head_size, mrope_section=None,
           rotary_mode="half", cache_mode="default"):
    """Returns query and key turned: their shapes and dtypes.

    Internal precision is not documented; float32 with one cast is assumed.
    """
    cos, sin = cos_sin_cache.float()[positions.long()].chunk(2, -1)
    if positions.dim() == 2:
        cos = _mixed(cos, mrope_section, cache_mode)
        sin = _mixed(sin, mrope_section, cache_mode)
    cos, sin = cos.unsqueeze(1), sin.unsqueeze(1)
    return (
        _turn(query, cos, sin, head_size, rotary_mode),
        _turn(key, cos, sin, head_size, rotary_mode),
    )
