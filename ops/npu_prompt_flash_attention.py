"""npu_prompt_flash_attention: attention of a whole prompt, for inference.

Sources, named in the comments below:
  page  op-plugin, docs/zh/custom_APIs/torch_npu, the page
        "torch_npu-npu_prompt_flash_attention.md"
  meta  torch_npu 2.13.0, op_plugin/meta/_meta_registrations.py
"""
import torch

from npufuse import attention

operator = "npu_prompt_flash_attention"
schema = (
    "npu_prompt_flash_attention(Tensor query, Tensor key, Tensor value, *, "
    "Tensor? padding_mask=None, Tensor? atten_mask=None, "
    "Tensor? pse_shift=None, int[]? actual_seq_lengths=None, "
    "Tensor? deq_scale1=None, Tensor? quant_scale1=None, "
    "Tensor? deq_scale2=None, Tensor? quant_scale2=None, "
    "Tensor? quant_offset2=None, int num_heads=1, float scale_value=1.0, "
    "int pre_tokens=2147483647, int next_tokens=0, str input_layout=\"BSH\", "
    "int num_key_value_heads=0, int[]? actual_seq_lengths_kv=None, "
    "int sparse_mode=0) -> Tensor"
)
summary = "attention of a whole prompt, for inference; next_tokens is 0 by default"
source = "op-plugin docs: torch_npu-npu_prompt_flash_attention.md"

# No derivative and no fallback is registered: gradients are dropped.
autograd = "silent"
output_differentiability = (True,)

# page, table of products.
products = ("Atlas A3", "Atlas A2", "Atlas inference accelerator cards (float16)")
versions = "2.1.0, 2.5.1, 2.7.1, 2.13.0, 2.14.0"

roles = (
    "query: query", "key: key", "value: value", "scale_value: attention_scale",
    "atten_mask: drop_mask", "sparse_mode: sparse_mode",
)


def limits(query, key, value, padding_mask, atten_mask, pse_shift,
           actual_seq_lengths, deq_scale1, quant_scale1, deq_scale2, quant_scale2,
           quant_offset2, num_heads, scale_value, pre_tokens, next_tokens,
           input_layout, num_key_value_heads, actual_seq_lengths_kv, sparse_mode):
    # page, parameters query, key, value.
    assert query.dtype in (torch.float16, torch.bfloat16, torch.int8), (
        "query is float16, bfloat16 or int8"
    )
    assert key.dtype == value.dtype, "key and value have one dtype"
    assert key.dtype == query.dtype, "key has query's dtype"
    assert query.dim() in (3, 4), "query has 3 or 4 axes"
    # page: no strided tensors.
    assert query.is_contiguous(), "query is contiguous"
    assert key.is_contiguous(), "key is contiguous"
    assert value.is_contiguous(), "value is contiguous"
    # meta, the layouts there are.
    assert input_layout in (
        "BSH", "BSND", "BNSD", "BNSD_BSND", "NSD", "TND"
    ), "input_layout is one of those above"
    # page, ranges of the axes.
    assert num_heads >= 1, "num_heads is at least 1"
    assert num_heads <= 256, "num_heads is at most 256"
    assert input_layout not in ("BNSD", "BNSD_BSND", "TND") or (
        query.shape[1] == num_heads
    ), "num_heads is query's number of heads"
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
    # page: reserved.
    assert padding_mask is None, "padding_mask is not supported"
    # page, TND.
    assert input_layout != "TND" or actual_seq_lengths is not None, (
        "packed sequences need actual_seq_lengths"
    )
    assert input_layout != "TND" or actual_seq_lengths_kv is not None, (
        "packed sequences need actual_seq_lengths_kv"
    )
    # page, constraints of int8.
    assert quant_offset2 is None or quant_scale2 is not None, (
        "quant_offset2 needs quant_scale2"
    )
    assert query.dtype != torch.int8 or deq_scale1 is not None, (
        "an int8 query needs deq_scale1"
    )
    assert query.dtype == torch.int8 or deq_scale1 is None, (
        "deq_scale1 is for an int8 query"
    )


def golden(query, key, value, padding_mask=None, atten_mask=None, pse_shift=None,
           actual_seq_lengths=None, deq_scale1=None, quant_scale1=None,
           deq_scale2=None, quant_scale2=None, quant_offset2=None, num_heads=1,
           scale_value=1.0, pre_tokens=2147483647, next_tokens=0,
           input_layout="BSH", num_key_value_heads=0, actual_seq_lengths_kv=None,
           sparse_mode=0):
    """Returns the output: query's layout (BSND of BNSD_BSND) and dtype.

    next_tokens is 0 by default: with a mask and sparse_mode 0 no key after
    the row's own counts. Computed in float32 with one cast at the end.
    Quantisation and pse_shift (whose order with the scale is not documented)
    are not emulated.
    """
    assert query.dtype != torch.int8 and quant_scale2 is None and pse_shift is None, (
        "npu_prompt_flash_attention: int8, quant_scale2 and pse_shift are not emulated"
    )
    options = dict(
        mask=atten_mask, mode=sparse_mode, before=pre_tokens, after=next_tokens,
        scale=scale_value, q_ends=actual_seq_lengths, kv_ends=actual_seq_lengths_kv,
        inner_precise=0, sink=None, query_rope=None, key_rope=None,
    )
    return attention.infer_attention(
        query, key, value, num_heads, num_key_value_heads, input_layout, options
    )[0]
