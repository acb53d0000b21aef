"""npu_fused_infer_attention_score: attention for inference, prefill and decoding.

Sources, named in the comments below:
  page  op-plugin, docs/zh/custom_APIs/torch_npu, the page
        "torch_npu-npu_fused_infer_attention_score.md"
  meta  torch_npu 2.13.0, op_plugin/meta/_meta_registrations.py
"""
import torch

from npufuse import attention

operator = "npu_fused_infer_attention_score"
schema = (
    "npu_fused_infer_attention_score(Tensor query, Tensor key, "
    "Tensor value, *, Tensor? pse_shift=None, Tensor? atten_mask=None, "
    "SymInt[]? actual_seq_lengths=None, "
    "SymInt[]? actual_seq_lengths_kv=None, Tensor? dequant_scale1=None, "
    "Tensor? quant_scale1=None, Tensor? dequant_scale2=None, "
    "Tensor? quant_scale2=None, Tensor? quant_offset2=None, "
    "Tensor? antiquant_scale=None, Tensor? antiquant_offset=None, "
    "Tensor? key_antiquant_scale=None, Tensor? key_antiquant_offset=None, "
    "Tensor? value_antiquant_scale=None, "
    "Tensor? value_antiquant_offset=None, Tensor? block_table=None, "
    "Tensor? query_padding_size=None, Tensor? kv_padding_size=None, "
    "Tensor? key_shared_prefix=None, Tensor? value_shared_prefix=None, "
    "SymInt[]? actual_shared_prefix_len=None, Tensor? query_rope=None, "
    "Tensor? key_rope=None, Tensor? key_rope_antiquant_scale=None, "
    "int num_heads=1, float scale=1.0, int pre_tokens=2147483647, "
    "int next_tokens=2147483647, str input_layout=\"BSH\", "
    "int num_key_value_heads=0, int sparse_mode=0, int inner_precise=0, "
    "int block_size=0, int antiquant_mode=0, int key_antiquant_mode=0, "
    "int value_antiquant_mode=0, bool softmax_lse_flag=False) -> (Tensor, "
    "Tensor)"
)
summary = "attention for inference: whole prompts and single tokens, in many layouts"
source = "op-plugin docs: torch_npu-npu_fused_infer_attention_score.md"

# No derivative and no fallback is registered: gradients are dropped.
autograd = "silent"
output_differentiability = (True, False)

products = ("Atlas A3", "Atlas A2")  # page, table of products
versions = "2.5.1, 2.7.1, 2.13.0, 2.14.0"

roles = (
    "query: query", "key: key", "value: value", "scale: attention_scale",
    "atten_mask: drop_mask", "sparse_mode: sparse_mode",
    "input_layout: layout", "actual_seq_lengths: ends_in_tnd",
)


def limits(query, key, value, pse_shift, atten_mask, actual_seq_lengths,
           actual_seq_lengths_kv, dequant_scale1, quant_scale1, dequant_scale2,
           quant_scale2, quant_offset2, antiquant_scale, antiquant_offset,
           key_antiquant_scale, key_antiquant_offset, value_antiquant_scale,
           value_antiquant_offset, block_table, query_padding_size, kv_padding_size,
           key_shared_prefix, value_shared_prefix, actual_shared_prefix_len,
           query_rope, key_rope, key_rope_antiquant_scale, num_heads, scale,
           pre_tokens, next_tokens, input_layout, num_key_value_heads, sparse_mode,
           inner_precise, block_size, antiquant_mode, key_antiquant_mode,
           value_antiquant_mode, softmax_lse_flag):
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
    assert num_heads >= 1, "num_heads is at least 1"
    assert num_heads <= 256, "num_heads is at most 256"
    assert input_layout not in ("BNSD", "BNSD_BSND", "BNSD_NBSD", "TND", "TND_NTD") or (
        query.shape[1] == num_heads
    ), "num_heads is query's number of heads"
    assert input_layout not in ("BSND", "BSND_NBSD", "BSND_BNSD") or (
        query.shape[2] == num_heads
    ), "num_heads is query's number of heads"
    assert input_layout not in ("BSH", "BSH_NBSD", "BSH_BNSD") or (
        query.shape[2] % num_heads == 0
    ), "query's last axis holds num_heads heads"
    assert input_layout not in ("BSH", "BSH_NBSD", "BSH_BNSD") or (
        query.shape[2] <= 512 * num_heads
    ), "a head is at most 512 wide"
    assert input_layout in ("BSH", "BSH_NBSD", "BSH_BNSD") or (
        query.shape[-1] <= 512
    ), "a head is at most 512 wide"
    # page, parameter num_key_value_heads: 0 means num_heads.
    assert num_key_value_heads >= 0, "num_key_value_heads is not negative"
    assert num_key_value_heads == 0 or num_heads % num_key_value_heads == 0, (
        "num_key_value_heads divides num_heads"
    )
    assert num_key_value_heads == 0 or num_heads <= 64 * num_key_value_heads, (
        "num_heads is at most 64 times num_key_value_heads"
    )
    # page, parameter atten_mask. An additive mask of floats is none.
    if atten_mask is not None:
        assert atten_mask.dtype in (torch.bool, torch.int8, torch.uint8), (
            "atten_mask is bool, int8 or uint8, True where masked"
        )
        assert atten_mask.is_contiguous(), "atten_mask is contiguous"
        assert atten_mask.dim() in (2, 3, 4), "atten_mask has 2, 3 or 4 axes"
        # page, sparse_mode; query of one row without rope ignores it.
        assert sparse_mode not in (2, 3, 4) or (
            atten_mask.shape[-2] == 2048 and atten_mask.shape[-1] == 2048
        ), "with sparse_mode 2, 3 or 4 atten_mask is 2048 x 2048"
    # page, sparse_mode.
    assert sparse_mode in (0, 1, 2, 3, 4), "sparse_mode is 0 to 4"
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
        actual_seq_lengths is not None
    ), "packed sequences need actual_seq_lengths"
    assert input_layout not in ("TND", "NTD", "TND_NTD", "NTD_TND") or (
        actual_seq_lengths_kv is not None
    ), "packed sequences need actual_seq_lengths_kv"
    # page, MLA: both parts, 64 wide.
    assert (query_rope is None) == (key_rope is None), (
        "query_rope and key_rope are given together"
    )
    if query_rope is not None:
        assert query_rope.dtype == query.dtype, "query_rope has query's dtype"
        assert key_rope.dtype == key.dtype, "key_rope has key's dtype"
        assert pse_shift is None, "query_rope takes no pse_shift"
    # page, parameter block_table.
    if block_table is not None:
        assert block_table.dtype == torch.int32, "block_table is int32"
        assert block_table.dim() == 2, "block_table has 2 axes"
        assert block_size > 0, "block_table needs block_size"
        assert actual_seq_lengths_kv is not None, (
            "block_table needs actual_seq_lengths_kv"
        )
    # page, parameters given together.
    assert (key_antiquant_scale is None) == (value_antiquant_scale is None), (
        "key_antiquant_scale and value_antiquant_scale are given together"
    )
    assert (key_antiquant_offset is None) == (value_antiquant_offset is None), (
        "key_antiquant_offset and value_antiquant_offset are given together"
    )
    assert (key_shared_prefix is None) == (value_shared_prefix is None), (
        "key_shared_prefix and value_shared_prefix are given together"
    )
    assert quant_offset2 is None or quant_scale2 is not None, (
        "quant_offset2 needs quant_scale2"
    )
    # page, parameter inner_precise.
    assert inner_precise in (0, 1, 2, 3), "inner_precise is 0 to 3"


def golden(query, key, value, pse_shift=None, atten_mask=None,
           actual_seq_lengths=None, actual_seq_lengths_kv=None, dequant_scale1=None,
           quant_scale1=None, dequant_scale2=None, quant_scale2=None,
           quant_offset2=None, antiquant_scale=None, antiquant_offset=None,
           key_antiquant_scale=None, key_antiquant_offset=None,
           value_antiquant_scale=None, value_antiquant_offset=None,
           block_table=None, query_padding_size=None, kv_padding_size=None,
           key_shared_prefix=None, value_shared_prefix=None,
           actual_shared_prefix_len=None, query_rope=None, key_rope=None,
           key_rope_antiquant_scale=None, num_heads=1, scale=1.0,
           pre_tokens=2147483647, next_tokens=2147483647, input_layout="BSH",
           num_key_value_heads=0, sparse_mode=0, inner_precise=0, block_size=0,
           antiquant_mode=0, key_antiquant_mode=0, value_antiquant_mode=0,
           softmax_lse_flag=False):
    """Returns the output (the layout after the underscore, query's dtype) and
    softmax_lse (float32: (B, N, Sq, 1), packed (T, N, 1)), empty without
    softmax_lse_flag (meta).

    Computed in float32 with one cast at the end. Quantisation, paged caches,
    shared prefixes, padding and pse_shift (whose order with the scale is not
    documented) are not emulated.
    """
    assert query.dtype != torch.int8 and key.dtype == query.dtype, (
        "npu_fused_infer_attention_score: quantised tensors are not emulated"
    )
    others = (pse_shift, quant_scale2, block_table, query_padding_size,
              kv_padding_size, key_shared_prefix)
    assert all(t is None for t in others), (
        "npu_fused_infer_attention_score: pse_shift, quant_scale2, block_table, "
        "padding and prefixes are not emulated"
    )
    options = dict(
        mask=atten_mask, mode=sparse_mode, before=pre_tokens, after=next_tokens,
        scale=scale, q_ends=actual_seq_lengths, kv_ends=actual_seq_lengths_kv,
        inner_precise=inner_precise, sink=None, query_rope=query_rope,
        key_rope=key_rope,
    )
    out, lse = attention.infer_attention(
        query, key, value, num_heads, num_key_value_heads, input_layout, options
    )
    return out, lse if softmax_lse_flag else lse.new_empty(0)
