"""npu_incre_flash_attention: attention of one new token to a cache.

Sources, named in the comments below:
  page  op-plugin, docs/zh/custom_APIs/torch_npu, the page
        "torch_npu-npu_incre_flash_attention.md"
  meta  torch_npu 2.13.0, op_plugin/meta/_meta_registrations.py
"""
import torch

from npufuse import attention

operator = "npu_incre_flash_attention"
schema = (
    "npu_incre_flash_attention(Tensor query, Tensor key, Tensor value, *, "
    "Tensor? padding_mask=None, Tensor? atten_mask=None, "
    "Tensor? pse_shift=None, SymInt[]? actual_seq_lengths=None, "
    "Tensor? antiquant_scale=None, Tensor? antiquant_offset=None, "
    "Tensor? block_table=None, Tensor? dequant_scale1=None, "
    "Tensor? quant_scale1=None, Tensor? dequant_scale2=None, "
    "Tensor? quant_scale2=None, Tensor? quant_offset2=None, "
    "Tensor? kv_padding_size=None, int num_heads=1, float scale_value=1.0, "
    "str input_layout=\"BSH\", int num_key_value_heads=0, int block_size=0, "
    "int inner_precise=1) -> Tensor"
)
summary = "attention of one new token to the keys and values so far, for inference"
source = "op-plugin docs: torch_npu-npu_incre_flash_attention.md"

# No derivative and no fallback is registered: gradients are dropped.
autograd = "silent"
output_differentiability = (True,)

# page, table of products.
products = ("Atlas A2", "Atlas inference accelerator cards (float16)")
versions = "2.1.0, 2.5.1, 2.7.1, 2.13.0, 2.14.0"

roles = (
    "query: query", "key: key", "value: value", "scale_value: attention_scale",
    "atten_mask: drop_mask",
)


def limits(query, key, value, padding_mask, atten_mask, pse_shift,
           actual_seq_lengths, antiquant_scale, antiquant_offset, block_table,
           dequant_scale1, quant_scale1, dequant_scale2, quant_scale2,
           quant_offset2, kv_padding_size, num_heads, scale_value, input_layout,
           num_key_value_heads, block_size, inner_precise):
    # page, parameters query, key, value.
    assert query.dtype in (torch.float16, torch.bfloat16), (
        "query is float16 or bfloat16"
    )
    assert key.dtype == value.dtype, "key and value have one dtype"
    assert key.dtype in (torch.float16, torch.bfloat16, torch.int8), (
        "key is float16, bfloat16 or int8"
    )
    assert query.dim() in (3, 4), "query has 3 or 4 axes"
    # meta, the layouts there are.
    assert input_layout in (
        "BSH", "BSND", "BNSD"
    ), "input_layout is one of those above"
    # page, ranges of the axes.
    assert num_heads >= 1, "num_heads is at least 1"
    assert num_heads <= 256, "num_heads is at most 256"
    assert input_layout != "BNSD" or query.shape[1] == num_heads, (
        "num_heads is query's number of heads"
    )
    assert input_layout != "BSND" or query.shape[2] == num_heads, (
        "num_heads is query's number of heads"
    )
    assert input_layout != "BSH" or query.shape[2] % num_heads == 0, (
        "query's last axis holds num_heads heads"
    )
    assert input_layout != "BSH" or (
        query.shape[2] <= 512 * num_heads
    ), "a head is at most 512 wide"
    assert input_layout == "BSH" or (
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
    # page, constraints: one new token.
    assert input_layout not in ("BSH", "BSND") or query.shape[1] == 1, (
        "query has one row for each sequence"
    )
    assert input_layout != "BNSD" or query.shape[2] == 1, (
        "query has one row for each sequence"
    )
    # page, parameter atten_mask.
    if atten_mask is not None:
        assert atten_mask.dtype in (torch.bool, torch.int8, torch.uint8), (
            "atten_mask is bool, int8 or uint8, True where masked"
        )
    # page, constraints: pse_shift.
    if pse_shift is not None:
        assert pse_shift.dtype == query.dtype, "pse_shift has query's dtype"
    # page: reserved.
    assert padding_mask is None, "padding_mask is not supported"
    # page, page attention.
    if block_table is not None:
        assert block_table.dtype == torch.int32, "block_table is int32"
        assert block_table.dim() == 2, "block_table has 2 axes"
        assert block_size > 0, "block_table needs block_size"
        assert actual_seq_lengths is not None, "block_table needs actual_seq_lengths"
    # page, constraints of int8.
    assert quant_offset2 is None or quant_scale2 is not None, (
        "quant_offset2 needs quant_scale2"
    )
    assert inner_precise in (0, 1), "inner_precise is 0 or 1"


def golden(query, key, value, padding_mask=None, atten_mask=None, pse_shift=None,
           actual_seq_lengths=None, antiquant_scale=None, antiquant_offset=None,
           block_table=None, dequant_scale1=None, quant_scale1=None,
           dequant_scale2=None, quant_scale2=None, quant_offset2=None,
           kv_padding_size=None, num_heads=1, scale_value=1.0, input_layout="BSH",
           num_key_value_heads=0, block_size=0, inner_precise=1):
    """Returns the output: query's shape and dtype.

    actual_seq_lengths are those of key and value. Computed in float32 with
    one cast at the end. Quantisation, paged caches, padding and pse_shift are
    not emulated.
    """
    others = (pse_shift, antiquant_scale, quant_scale2, block_table, kv_padding_size)
    assert key.dtype == query.dtype and all(t is None for t in others), (
        "npu_incre_flash_attention: int8, pse_shift, block_table and padding are "
        "not emulated"
    )
    length = 2147483647
    options = dict(
        mask=atten_mask, mode=0, before=length, after=length, scale=scale_value,
        q_ends=None, kv_ends=actual_seq_lengths, inner_precise=0, sink=None,
        query_rope=None, key_rope=None,
    )
    return attention.infer_attention(
        query, key, value, num_heads, num_key_value_heads, input_layout, options
    )[0]
