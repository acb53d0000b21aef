"""npu_fused_infer_attention_score_v2: attention for inference, with other names and a sink.

Sources, named in the comments below:
  page  op-plugin, docs/zh/custom_APIs/torch_npu, the page
        "torch_npu-npu_fused_infer_attention_score_v2.md"
  meta  torch_npu 2.13.0, op_plugin/meta/_meta_registrations.py
"""
import torch

from npufuse import attention

operator = "npu_fused_infer_attention_score_v2"
schema = (
    "npu_fused_infer_attention_score_v2(Tensor query, Tensor key, "
    "Tensor value, *, Tensor? query_rope=None, Tensor? key_rope=None, "
    "Tensor? pse_shift=None, Tensor? atten_mask=None, "
    "SymInt[]? actual_seq_qlen=None, SymInt[]? actual_seq_kvlen=None, "
    "Tensor? block_table=None, Tensor? dequant_scale_query=None, "
    "Tensor? dequant_scale_key=None, Tensor? dequant_offset_key=None, "
    "Tensor? dequant_scale_value=None, Tensor? dequant_offset_value=None, "
    "Tensor? dequant_scale_key_rope=None, Tensor? quant_scale_out=None, "
    "Tensor? quant_offset_out=None, Tensor? quant_scale_p=None, "
    "Tensor? learnable_sink=None, int num_query_heads=1, "
    "int num_key_value_heads=0, float softmax_scale=1.0, "
    "int pre_tokens=2147483647, int next_tokens=2147483647, "
    "str input_layout=\"BSH\", int sparse_mode=0, int block_size=0, "
    "int query_quant_mode=0, int key_quant_mode=0, int value_quant_mode=0, "
    "int inner_precise=0, bool return_softmax_lse=False, "
    "int? query_dtype=None, int? key_dtype=None, int? value_dtype=None, "
    "int? query_rope_dtype=None, int? key_rope_dtype=None, "
    "int? key_shared_prefix_dtype=None, "
    "int? value_shared_prefix_dtype=None, "
    "int? dequant_scale_query_dtype=None, "
    "int? dequant_scale_key_dtype=None, "
    "int? dequant_scale_value_dtype=None, "
    "int? dequant_scale_key_rope_dtype=None, int? out_dtype=None) -> "
    "(Tensor, Tensor)"
)
summary = "attention for inference: npu_fused_infer_attention_score with a learnable sink"
source = "op-plugin docs: torch_npu-npu_fused_infer_attention_score_v2.md"

# No derivative and no fallback is registered: gradients are dropped.
autograd = "silent"
output_differentiability = (True, False)

products = ("Atlas A3", "Atlas A2")  # page, table of products
versions = "2.7.1, 2.13.0, 2.14.0"

roles = (
    "query: query", "key: key", "value: value", "softmax_scale: attention_scale",
    "atten_mask: drop_mask", "sparse_mode: sparse_mode",
    "input_layout: layout", "actual_seq_qlen: ends_in_tnd",
)


def limits(query, key, value, query_rope, key_rope, pse_shift, atten_mask,
           actual_seq_qlen, actual_seq_kvlen, block_table, dequant_scale_query,
           dequant_scale_key, dequant_offset_key, dequant_scale_value,
           dequant_offset_value, dequant_scale_key_rope, quant_scale_out,
           quant_offset_out, quant_scale_p, learnable_sink, num_query_heads,
           num_key_value_heads, softmax_scale, pre_tokens, next_tokens,
           input_layout, sparse_mode, block_size, query_quant_mode, key_quant_mode,
           value_quant_mode, inner_precise, return_softmax_lse, query_dtype,
           key_dtype, value_dtype, query_rope_dtype, key_rope_dtype,
           key_shared_prefix_dtype, value_shared_prefix_dtype,
           dequant_scale_query_dtype, dequant_scale_key_dtype,
           dequant_scale_value_dtype, dequant_scale_key_rope_dtype, out_dtype):
    # page, parameters query, key, value.
    assert query.dtype in (torch.float16, torch.bfloat16, torch.int8), (
        "query is float16, bfloat16 or int8"
    )
    assert key.dtype == value.dtype, "key and value have one dtype"
    assert key.dtype in (
        torch.float16, torch.bfloat16, torch.int8, torch.int32
    ), "key is float16, bfloat16, int8 or int4"
    assert query.dim() in (3, 4), "query has 3 or 4 axes"
    # page: no strided tensors.
    assert query.is_contiguous(), "query is contiguous"
    assert key.is_contiguous(), "key is contiguous"
    assert value.is_contiguous(), "value is contiguous"
    # meta, the layouts there are.
    assert input_layout in (
        "BSH", "BSND", "BNSD", "TND", "NTD", "NSD", "BNSD_BSND", "BSH_BNSD",
        "BSND_BNSD", "NTD_TND", "BSH_NBSD", "BSND_NBSD", "BNSD_NBSD",
        "TND_NTD"
    ), "input_layout is one of those above"
    # page, ranges of the axes.
    assert num_query_heads >= 1, "num_query_heads is at least 1"
    assert num_query_heads <= 256, "num_query_heads is at most 256"
    assert input_layout not in ("BNSD", "BNSD_BSND", "BNSD_NBSD", "TND", "TND_NTD") or (
        query.shape[1] == num_query_heads
    ), "num_query_heads is query's number of heads"
    assert input_layout not in ("BSND", "BSND_NBSD", "BSND_BNSD") or (
        query.shape[2] == num_query_heads
    ), "num_query_heads is query's number of heads"
    assert input_layout not in ("BSH", "BSH_NBSD", "BSH_BNSD") or (
        query.shape[2] % num_query_heads == 0
    ), "query's last axis holds num_query_heads heads"
    assert input_layout not in ("BSH", "BSH_NBSD", "BSH_BNSD") or (
        query.shape[2] <= 512 * num_query_heads
    ), "a head is at most 512 wide"
    assert input_layout in ("BSH", "BSH_NBSD", "BSH_BNSD") or (
        query.shape[-1] <= 512
    ), "a head is at most 512 wide"
    # page, parameter num_key_value_heads: 0 means num_query_heads.
    assert num_key_value_heads >= 0, "num_key_value_heads is not negative"
    assert num_key_value_heads == 0 or num_query_heads % num_key_value_heads == 0, (
        "num_key_value_heads divides num_query_heads"
    )
    assert num_key_value_heads == 0 or (
        num_query_heads <= 64 * num_key_value_heads
    ), "num_query_heads is at most 64 times num_key_value_heads"
    # page, parameter atten_mask. An additive mask of floats is none.
    if atten_mask is not None:
        assert atten_mask.dtype in (torch.bool, torch.int8, torch.uint8), (
            "atten_mask is bool, int8 or uint8, True where masked"
        )
        assert atten_mask.is_contiguous(), "atten_mask is contiguous"
        assert sparse_mode == 9 or atten_mask.dim() in (2, 3, 4), (
            "atten_mask has 2, 3 or 4 axes"
        )
        # page, sparse_mode; query of one row without rope ignores it.
        assert sparse_mode not in (2, 3, 4) or (
            atten_mask.shape[-2] == 2048 and atten_mask.shape[-1] == 2048
        ), "with sparse_mode 2, 3 or 4 atten_mask is 2048 x 2048"
    # page, sparse_mode.
    assert sparse_mode in (0, 1, 2, 3, 4, 9), "sparse_mode is 0 to 4, or 9"
    # page, parameter pse_shift.
    if pse_shift is not None:
        assert pse_shift.dtype in (torch.float16, torch.bfloat16), (
            "pse_shift is float16 or bfloat16"
        )
        assert query.dtype == torch.int8 or pse_shift.dtype == query.dtype, (
            "pse_shift has query's dtype"
        )
        assert pse_shift.dim() == 4, "pse_shift has 4 axes"
    # page, TND.
    assert input_layout not in ("TND", "NTD", "TND_NTD", "NTD_TND") or (
        actual_seq_qlen is not None
    ), "packed sequences need actual_seq_qlen"
    assert input_layout not in ("TND", "NTD", "TND_NTD", "NTD_TND") or (
        actual_seq_kvlen is not None
    ), "packed sequences need actual_seq_kvlen"
    # page, MLA.
    assert (query_rope is None) == (key_rope is None), (
        "query_rope and key_rope are given together"
    )
    # page, parameter block_table.
    if block_table is not None:
        assert block_table.dtype == torch.int32, "block_table is int32"
        assert block_table.dim() == 2, "block_table has 2 axes"
        assert block_size > 0, "block_table needs block_size"
        assert actual_seq_kvlen is not None, "block_table needs actual_seq_kvlen"
    # page, parameter learnable_sink.
    if learnable_sink is not None:
        assert learnable_sink.dtype == torch.bfloat16, "learnable_sink is bfloat16"
        assert learnable_sink.dim() == 1, "learnable_sink has 1 axis"
        assert learnable_sink.shape[0] == num_query_heads, (
            "learnable_sink has one value for each head"
        )
    # page, parameters given together.
    assert (dequant_scale_key is None) == (dequant_scale_value is None), (
        "dequant_scale_key and dequant_scale_value are given together"
    )
    assert quant_offset_out is None or quant_scale_out is not None, (
        "quant_offset_out needs quant_scale_out"
    )
    # page, parameter inner_precise.
    assert inner_precise in (0, 1, 2, 3), "inner_precise is 0 to 3"


def golden(query, key, value, query_rope=None, key_rope=None, pse_shift=None,
           atten_mask=None, actual_seq_qlen=None, actual_seq_kvlen=None,
           block_table=None, dequant_scale_query=None, dequant_scale_key=None,
           dequant_offset_key=None, dequant_scale_value=None,
           dequant_offset_value=None, dequant_scale_key_rope=None,
           quant_scale_out=None, quant_offset_out=None, quant_scale_p=None,
           learnable_sink=None, num_query_heads=1, num_key_value_heads=0,
           softmax_scale=1.0, pre_tokens=2147483647, next_tokens=2147483647,
           input_layout="BSH", sparse_mode=0, block_size=0, query_quant_mode=0,
           key_quant_mode=0, value_quant_mode=0, inner_precise=0,
           return_softmax_lse=False, query_dtype=None, key_dtype=None,
           value_dtype=None, query_rope_dtype=None, key_rope_dtype=None,
           key_shared_prefix_dtype=None, value_shared_prefix_dtype=None,
           dequant_scale_query_dtype=None, dequant_scale_key_dtype=None,
           dequant_scale_value_dtype=None, dequant_scale_key_rope_dtype=None,
           out_dtype=None):
    """Returns the output (the layout after the underscore, query's dtype) and
    softmax_lse (float32: (B, N, Sq, 1), packed (T, N, 1)), empty without
    return_softmax_lse (meta).

    Computed in float32 with one cast at the end. Quantisation, paged caches,
    sparse_mode 9 and pse_shift (whose order with the scale is not documented)
    are not emulated.
    """
    assert query.dtype != torch.int8 and key.dtype == query.dtype, (
        "npu_fused_infer_attention_score_v2: quantised tensors are not emulated"
    )
    others = (pse_shift, quant_scale_out, block_table)
    assert all(t is None for t in others) and sparse_mode != 9, (
        "npu_fused_infer_attention_score_v2: pse_shift, quant_scale_out, "
        "block_table and sparse_mode 9 are not emulated"
    )
    options = dict(
        mask=atten_mask, mode=sparse_mode, before=pre_tokens, after=next_tokens,
        scale=softmax_scale, q_ends=actual_seq_qlen, kv_ends=actual_seq_kvlen,
        inner_precise=inner_precise, sink=learnable_sink, query_rope=query_rope,
        key_rope=key_rope,
    )
    out, lse = attention.infer_attention(
        query, key, value, num_query_heads, num_key_value_heads, input_layout, options
    )
    return out, lse if return_softmax_lse else lse.new_empty(0)
