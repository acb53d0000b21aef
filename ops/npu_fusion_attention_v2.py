"""npu_fusion_attention_v2: npu_fusion_attention with kinds of pse, and rope.

Sources, named in the comments below:
  docstring    torch_npu 2.13.0, _op_plugin_docs.py, entry
               npu_fusion_attention_v2
  C++          op-plugin, op_plugin/ops/opapi/FlashAttentionKernelNpuOpApi.cpp
  meta         torch_npu 2.13.0, op_plugin/meta/_meta_registrations.py
  derivatives  op-plugin, op_plugin/config/derivatives.yaml
There is no page in op-plugin's docs.
"""
import torch

from npufuse import attention

operator = "npu_fusion_attention_v2"
schema = (
    "npu_fusion_attention_v2(Tensor query, Tensor key, Tensor value, "
    "int head_num, str input_layout, *, Tensor? pse=None, "
    "Tensor? padding_mask=None, Tensor? atten_mask=None, "
    "Tensor? query_rope=None, Tensor? key_rope=None, float scale=1., "
    "float keep_prob=1., int pre_tokens=2147483647, int next_tokens=2147483647, "
    "int inner_precise=0, int[]? prefix=None, int[]? actual_seq_qlen=None, "
    "int[]? actual_seq_kvlen=None, int sparse_mode=0, "
    "bool gen_mask_parallel=True, bool sync=False, int pse_type=1, "
    "int[]? q_start_idx=None, int[]? kv_start_idx=None, str softmax_layout=\"\", "
    "Tensor? sink=None, Tensor? dropout_mask=None, int seed=0, int offset=0) "
    "-> (Tensor, Tensor, Tensor, Tensor, int, int, int)"
)
summary = "softmax attention for training, with kinds of position bias and rope parts"
source = "torch_npu docstring: npu_fusion_attention_v2"

# derivatives: a formula for query, key, value, pse, the ropes and sink. It marks the
# first four outputs, but uses the gradient of the first alone.
autograd = "differentiable"
output_differentiability = (True, False, False, False, False, False, False)

# docstring.
products = ("Ascend 950DT", "Atlas A3", "Atlas A2")
versions = "2.7.1, 2.13.0, 2.14.0"

roles = (
    "query: query", "key: key", "value: value", "scale: attention_scale",
    "atten_mask: drop_mask", "sparse_mode: sparse_mode",
    "actual_seq_qlen: cumulative_ends", "actual_seq_kvlen: cumulative_ends",
)


def limits(query, key, value, head_num, input_layout, pse, padding_mask,
           atten_mask, query_rope, key_rope, scale, keep_prob, pre_tokens,
           next_tokens, inner_precise, prefix, actual_seq_qlen, actual_seq_kvlen,
           sparse_mode, gen_mask_parallel, sync, pse_type, q_start_idx,
           kv_start_idx, softmax_layout, sink, dropout_mask, seed, offset):
    # docstring, parameter query: the three floating types.
    assert query.dtype in (torch.float16, torch.bfloat16, torch.float32), (
        "query is float16, bfloat16 or float32"
    )
    # docstring, constraints: query, key, value and pse share one dtype.
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
    # docstring, constraints: 1 to 256 query heads.
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
    # docstring, constraints: head width 1 to 768, the same of query and key, not
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
    # docstring, constraints: query's heads are a multiple of key's.
    assert input_layout not in ("BNSD", "TND") or query.shape[1] % key.shape[1] == 0, (
        "the number of query heads is a multiple of that of key heads"
    )
    assert input_layout in ("BNSD", "TND") or query.shape[2] % key.shape[2] == 0, (
        "the number of query heads is a multiple of that of key heads"
    )
    # docstring, constraints: one batch size.
    assert input_layout not in ("BSH", "BSND", "BNSD") or (
        key.shape[0] == query.shape[0]
    ), "query and key have one batch size"
    assert input_layout != "SBH" or key.shape[1] == query.shape[1], (
        "query and key have one batch size"
    )
    # docstring, parameter pse: four axes; the third is Sq, 1, or the last 1024 rows.
    if pse is not None:
        assert pse_type in (2, 3) or pse.dtype == query.dtype, "pse has query's dtype"
        assert pse_type in (2, 3) or pse.dim() == 4, "pse has 4 axes"
        # docstring, pse_type 2 and 3: slopes of heads, (B, N) or (N).
        assert pse_type not in (2, 3) or pse.dtype == torch.float32, (
            "pse of pse_type 2 or 3 is float32"
        )
        assert pse_type not in (2, 3) or pse.dim() in (1, 2), (
            "pse of pse_type 2 or 3 has 1 or 2 axes"
        )
        # docstring, sparse_mode.
        assert sparse_mode not in (7, 8), "sparse_mode 7 and 8 take no pse"
    assert pse_type in (0, 1, 2, 3), "pse_type is 0, 1, 2 or 3"
    # docstring, parameters query_rope and key_rope.
    assert (query_rope is None) == (key_rope is None), (
        "query_rope and key_rope are given together"
    )
    if query_rope is not None:
        assert input_layout == "TND", "query_rope is for TND"
        assert query.dtype == torch.bfloat16, "query beside query_rope is bfloat16"
        assert query_rope.dtype == torch.bfloat16, "query_rope is bfloat16"
        assert key_rope.dtype == torch.bfloat16, "key_rope is bfloat16"
        assert query_rope.shape[-1] == key_rope.shape[-1], (
            "query_rope and key_rope are of one width"
        )
        assert query_rope.shape[-1] % 8 == 0, "query_rope's width is a multiple of 8"
        assert query_rope.shape[-1] <= value.shape[-1], (
            "query_rope is no wider than query, key and value"
        )
        assert atten_mask is not None, "query_rope needs atten_mask"
        assert keep_prob == 1, "query_rope takes no dropout"
        assert pse is None, "query_rope takes no pse"
        assert pse_type == 1, "query_rope takes pse_type 1 alone"
    # docstring, parameter padding_mask.
    assert padding_mask is None, "padding_mask is not supported"
    # docstring, parameter atten_mask. An additive mask of floats is none.
    if atten_mask is not None:
        assert atten_mask.dtype in (torch.bool, torch.uint8), (
            "atten_mask is bool or uint8, True where masked"
        )
        assert atten_mask.dim() in (2, 4), "atten_mask has 2 or 4 axes"
        # docstring, TND: of the longest query times the longest key.
        assert input_layout != "TND" or atten_mask.dim() == 2, (
            "atten_mask of TND has 2 axes"
        )
        # docstring, description of each mode: the compressed masks.
        assert sparse_mode not in (2, 3, 4, 7, 8) or (
            atten_mask.shape[-2] == 2048 and atten_mask.shape[-1] == 2048
        ), "with sparse_mode 2, 3, 4, 7 or 8 atten_mask is 2048 x 2048"
        assert sparse_mode != 6 or (
            atten_mask.shape[-2] == 3072 and atten_mask.shape[-1] == 2048
        ), "with sparse_mode 6 atten_mask is 3072 x 2048"
        assert sparse_mode != 5 or atten_mask.dim() == 4, (
            "with sparse_mode 5 atten_mask has 4 axes"
        )
        # docstring: else one value for each query and key.
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
    # docstring, constraints: at most 32 sequences with a prefix.
    if prefix is not None:
        assert len(prefix) <= 32, "prefix has at most 32 values"
    # C++: lengths of as many sequences, for TND alone.
    assert input_layout != "TND" or actual_seq_qlen is not None, (
        "TND needs actual_seq_qlen"
    )
    assert input_layout != "TND" or actual_seq_kvlen is not None, (
        "TND needs actual_seq_kvlen"
    )
    if actual_seq_qlen is not None and actual_seq_kvlen is not None:
        assert len(actual_seq_qlen) == len(actual_seq_kvlen), (
            "actual_seq_qlen and actual_seq_kvlen are of one length"
        )
    # C++.
    assert softmax_layout in ("", "TND"), "softmax_layout is '' or TND"
    assert softmax_layout == "" or input_layout == "TND", (
        "softmax_layout TND needs input_layout TND"
    )
    # docstring, parameter sink.
    if sink is not None:
        assert sink.dtype == torch.float32, "sink is float32"
        assert sink.dim() == 1, "sink has 1 axis"
        assert sink.shape[0] == head_num, "sink has one value for each head"
    # docstring, parameter dropout_mask: packed bits of the operator's own generator.
    if dropout_mask is not None:
        assert dropout_mask.dtype == torch.uint8, "dropout_mask is uint8"


def golden(query, key, value, head_num, input_layout, pse=None,
           padding_mask=None, atten_mask=None, query_rope=None, key_rope=None,
           scale=1.0, keep_prob=1.0, pre_tokens=2147483647,
           next_tokens=2147483647, inner_precise=0, prefix=None,
           actual_seq_qlen=None, actual_seq_kvlen=None, sparse_mode=0,
           gen_mask_parallel=True, sync=False, pse_type=1, q_start_idx=None,
           kv_start_idx=None, softmax_layout="", sink=None, dropout_mask=None,
           seed=0, offset=0):
    """Returns what npu_fusion_attention does.

    pse_type 1 (default): scale * (q k^T + pse); 0: scale * q k^T + pse
    (docstring). Slopes of heads (2, 3), parts of a sequence and dropout are
    not emulated.
    """
    assert keep_prob == 1, "npu_fusion_attention_v2: dropout is not emulated"
    assert pse_type in (0, 1), "npu_fusion_attention_v2: pse_type 2, 3 are not emulated"
    assert q_start_idx is None and kv_start_idx is None, (
        "npu_fusion_attention_v2: start indices are not emulated"
    )
    assert input_layout != "TND" or pse is None, (
        "npu_fusion_attention_v2: pse with TND is not emulated"
    )
    if query_rope is not None:
        query = torch.cat([query, query_rope], -1)
        key = torch.cat([key, key_rope], -1)
    options = dict(
        pse=pse, inner=pse_type == 1, atten_mask=atten_mask, scale=scale,
        before=pre_tokens, after=next_tokens, inner_precise=inner_precise,
        prefix=prefix, q_ends=actual_seq_qlen, kv_ends=actual_seq_kvlen,
        mode=sparse_mode, sink=sink,
    )
    out, top, total = attention.fusion_attention(
        query, key, value, head_num, input_layout, options
    )
    if input_layout == "TND" and softmax_layout == "":
        # docstring, softmax_layout: NTD in memory, in the shape of TND.
        top = top.transpose(0, 1).reshape(top.shape)
        total = total.transpose(0, 1).reshape(total.shape)
    return out, top, total, query.new_empty(0), 0, 0, 0
