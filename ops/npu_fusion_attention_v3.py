"""npu_fusion_attention_v3: npu_fusion_attention for graphs, seeds as tensors.

Sources, named in the comments below:
  page         op-plugin, docs/zh/custom_APIs/torch_npu, the page
               "torch_npu-npu_fusion_attention_v3.md"
  C++          op-plugin, op_plugin/ops/opapi/FlashAttentionKernelNpuOpApi.cpp
  meta         torch_npu 2.13.0, op_plugin/meta/_fake_registrations.py
  derivatives  op-plugin, op_plugin/config/derivatives.yaml
"""
import torch

from npufuse import attention

operator = "npu_fusion_attention_v3"
schema = (
    "npu_fusion_attention_v3(Tensor query, Tensor key, Tensor value, "
    "int head_num, str input_layout, Tensor? pse=None, "
    "Tensor? padding_mask=None, Tensor? atten_mask=None, float scale=1., "
    "float keep_prob=1., int pre_tockens=2147483647, "
    "int next_tockens=2147483647, int inner_precise=0, SymInt[]? prefix=None, "
    "Tensor? actual_seq_qlen=None, Tensor? actual_seq_kvlen=None, "
    "int sparse_mode=0, bool gen_mask_parallel=True, bool sync=False, "
    "str softmax_layout=\"\", Tensor? sink=None) "
    "-> (Tensor, Tensor, Tensor, Tensor, Tensor, Tensor)"
)
summary = "softmax attention for training in captured graphs: seeds are tensors"
source = "op-plugin docs: torch_npu-npu_fusion_attention_v3.md"

# derivatives: a formula for query, key, value, pse and sink. It marks the
# first four outputs, but uses the gradient of the first alone.
autograd = "differentiable"
output_differentiability = (True, False, False, False, False, False)

products = ("Atlas A2 training",)  # page, table of products
versions = "2.13.0, 2.14.0"

roles = (
    "query: query", "key: key", "value: value", "scale: attention_scale",
    "atten_mask: drop_mask", "sparse_mode: sparse_mode",
    "actual_seq_qlen: cumulative_ends", "actual_seq_kvlen: cumulative_ends",
)


def limits(query, key, value, head_num, input_layout, pse, padding_mask,
           atten_mask, scale, keep_prob, pre_tockens, next_tockens,
           inner_precise, prefix, actual_seq_qlen, actual_seq_kvlen, sparse_mode,
           gen_mask_parallel, sync, softmax_layout, sink):
    # page, parameter query: the three floating types.
    assert query.dtype in (torch.float16, torch.bfloat16, torch.float32), (
        "query is float16, bfloat16 or float32"
    )
    # page, constraints: query, key, value and pse share one dtype.
    assert key.dtype == query.dtype, "key has query's dtype"
    assert value.dtype == query.dtype, "value has query's dtype"
    # C++: the layouts there are.
    assert input_layout in ("BSH", "SBH", "BSND", "BNSD", "TND"), (
        "input_layout is BSH, SBH, BSND, BNSD or TND"
    )
    assert input_layout not in ("BSND", "BNSD") or query.dim() == 4, (
        "query of BSND and BNSD has 4 axes"
    )
    assert input_layout in ("BSND", "BNSD") or query.dim() == 3, (
        "query of BSH, SBH and TND has 3 axes"
    )
    assert key.dim() == query.dim(), "key has as many axes as query"
    assert value.dim() == query.dim(), "value has as many axes as query"
    # page, constraints: 1 to 256 query heads.
    assert head_num >= 1, "head_num is at least 1"
    assert head_num <= 256, "head_num is at most 256"
    assert input_layout not in ("BNSD", "TND") or query.shape[1] == head_num, (
        "head_num is query's number of heads"
    )
    assert input_layout != "BSND" or query.shape[2] == head_num, (
        "head_num is query's number of heads"
    )
    assert input_layout not in ("BSH", "SBH") or query.shape[2] % head_num == 0, (
        "query's last axis holds head_num heads"
    )
    # page, constraints: head width 1 to 768, the same of query and key, not
    # larger of value.
    assert input_layout in ("BSH", "SBH") or query.shape[-1] <= 768, (
        "a head is at most 768 wide"
    )
    assert input_layout not in ("BSH", "SBH") or query.shape[2] <= 768 * head_num, (
        "a head is at most 768 wide"
    )
    assert input_layout in ("BSH", "SBH") or key.shape[-1] == query.shape[-1], (
        "key's heads are as wide as query's"
    )
    assert value.shape[-1] <= key.shape[-1], "value's heads are no wider than key's"
    assert value.shape[:-1] == key.shape[:-1], (
        "value has key's shape but for the width of the heads"
    )
    # page, constraints: query's heads are a multiple of key's.
    assert input_layout not in ("BNSD", "TND") or query.shape[1] % key.shape[1] == 0, (
        "the number of query heads is a multiple of that of key heads"
    )
    assert input_layout in ("BNSD", "TND") or query.shape[2] % key.shape[2] == 0, (
        "the number of query heads is a multiple of that of key heads"
    )
    # page, constraints: one batch size.
    assert input_layout not in ("BSH", "BSND", "BNSD") or (
        key.shape[0] == query.shape[0]
    ), "query and key have one batch size"
    assert input_layout != "SBH" or key.shape[1] == query.shape[1], (
        "query and key have one batch size"
    )
    # page, parameter pse: four axes; the third is Sq, 1, or the last 1024 rows.
    if pse is not None:
        assert pse.dtype == query.dtype, "pse has query's dtype"
        assert pse.dim() == 4, "pse has 4 axes"
        # page, sparse_mode.
        assert sparse_mode not in (7, 8), "sparse_mode 7 and 8 take no pse"
    # page, parameter padding_mask.
    assert padding_mask is None, "padding_mask is not supported"
    # page, parameter atten_mask. An additive mask of floats is none.
    if atten_mask is not None:
        assert atten_mask.dtype in (torch.bool, torch.uint8), (
            "atten_mask is bool or uint8, True where masked"
        )
        assert atten_mask.dim() in (2, 4), "atten_mask has 2 or 4 axes"
        # page, TND: of the longest query times the longest key.
        assert input_layout != "TND" or atten_mask.dim() == 2, (
            "atten_mask of TND has 2 axes"
        )
        # page, description of each mode: the compressed masks.
        assert sparse_mode not in (2, 3, 4, 7, 8) or (
            atten_mask.shape[-2] == 2048 and atten_mask.shape[-1] == 2048
        ), "with sparse_mode 2, 3, 4, 7 or 8 atten_mask is 2048 x 2048"
        assert sparse_mode != 6 or (
            atten_mask.shape[-2] == 3072 and atten_mask.shape[-1] == 2048
        ), "with sparse_mode 6 atten_mask is 3072 x 2048"
        assert sparse_mode != 5 or atten_mask.dim() == 4, (
            "with sparse_mode 5 atten_mask has 4 axes"
        )
        # page: else one value for each query and key.
        assert sparse_mode not in (0, 1, 5) or input_layout not in ("BSH", "BSND") or (
            atten_mask.shape[-2] == query.shape[1]
            and atten_mask.shape[-1] == key.shape[1]
        ), "atten_mask ends in the lengths of query and key"
        assert sparse_mode not in (0, 1, 5) or input_layout != "BNSD" or (
            atten_mask.shape[-2] == query.shape[2]
            and atten_mask.shape[-1] == key.shape[2]
        ), "atten_mask ends in the lengths of query and key"
        assert sparse_mode not in (0, 1, 5) or input_layout != "SBH" or (
            atten_mask.shape[-2] == query.shape[0]
            and atten_mask.shape[-1] == key.shape[0]
        ), "atten_mask ends in the lengths of query and key"
        assert sparse_mode not in (5, 6) or prefix is not None, (
            "sparse_mode 5 and 6 need prefix"
        )
    # C++.
    assert keep_prob > 0, "keep_prob is more than 0"
    assert keep_prob <= 1, "keep_prob is at most 1"
    # C++: [0, 6]; TND has no 5, but 7 and 8.
    assert sparse_mode in (0, 1, 2, 3, 4, 5, 6, 7, 8), "sparse_mode is 0 to 8"
    assert input_layout != "TND" or sparse_mode != 5, "TND has no sparse_mode 5"
    assert input_layout == "TND" or sparse_mode <= 6, (
        "sparse_mode 7 and 8 are for TND"
    )
    # page, constraints: at most 32 sequences with a prefix.
    if prefix is not None:
        assert len(prefix) <= 32, "prefix has at most 32 values"
    # C++: lengths of as many sequences, for TND alone.
    assert input_layout != "TND" or actual_seq_qlen is not None, (
        "TND needs actual_seq_qlen"
    )
    assert input_layout != "TND" or actual_seq_kvlen is not None, (
        "TND needs actual_seq_kvlen"
    )
    # C++: both are 1-D tensors of the CPU.
    if actual_seq_qlen is not None:
        assert actual_seq_qlen.dim() == 1, "actual_seq_qlen has 1 axis"
        assert actual_seq_qlen.device.type == "cpu", "actual_seq_qlen is on the CPU"
    if actual_seq_kvlen is not None:
        assert actual_seq_kvlen.dim() == 1, "actual_seq_kvlen has 1 axis"
        assert actual_seq_kvlen.device.type == "cpu", "actual_seq_kvlen is on the CPU"
        assert actual_seq_kvlen.shape == actual_seq_qlen.shape, (
            "actual_seq_qlen and actual_seq_kvlen are of one length"
        )
    # C++.
    assert softmax_layout in ("", "TND"), "softmax_layout is '' or TND"
    assert softmax_layout == "" or input_layout == "TND", (
        "softmax_layout TND needs input_layout TND"
    )
    # page, parameter sink.
    if sink is not None:
        assert sink.dtype == torch.float32, "sink is float32"
        assert sink.dim() == 1, "sink has 1 axis"
        assert sink.shape[0] == head_num, "sink has one value for each head"


def golden(query, key, value, head_num, input_layout, pse=None,
           padding_mask=None, atten_mask=None, scale=1.0, keep_prob=1.0,
           pre_tockens=2147483647, next_tockens=2147483647, inner_precise=0,
           prefix=None, actual_seq_qlen=None, actual_seq_kvlen=None,
           sparse_mode=0, gen_mask_parallel=True, sync=False, softmax_layout="",
           sink=None):
    """Returns the output (query's layout and dtype, value's head width),
    softmax_max, softmax_sum (float32), an empty tensor, and the dropout's
    seed and offset (int64, one element each).

    As npu_fusion_attention: float32 with one cast at the end, pse before the
    scale. Dropout is the device's own random: keep_prob is 1 here.
    """
    assert keep_prob == 1, "npu_fusion_attention_v3: dropout is not emulated"
    assert input_layout != "TND" or pse is None, (
        "npu_fusion_attention_v3: pse with TND is not emulated"
    )
    q_ends, kv_ends = (
        None if t is None else t.tolist() for t in (actual_seq_qlen, actual_seq_kvlen)
    )
    options = dict(
        pse=pse, inner=True, atten_mask=atten_mask, scale=scale,
        before=pre_tockens, after=next_tockens, inner_precise=inner_precise,
        prefix=prefix, q_ends=q_ends, kv_ends=kv_ends, mode=sparse_mode, sink=sink,
    )
    out, top, total = attention.fusion_attention(
        query, key, value, head_num, input_layout, options
    )
    if input_layout == "TND" and softmax_layout == "":
        # page, softmax_layout: NTD in memory; meta has the shape of TND.
        top = top.transpose(0, 1).reshape(top.shape)
        total = total.transpose(0, 1).reshape(total.shape)
    seed = torch.zeros(1, dtype=torch.int64, device=query.device)
    return out, top, total, query.new_empty(0), seed, seed.clone()
