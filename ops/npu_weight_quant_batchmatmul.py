"""npu_weight_quant_batchmatmul: a product with an int8 or int4 weight.

Sources, named in the comments below:
  page  op-plugin, docs/zh/custom_APIs/torch_npu, the page
        "torch_npu-npu_weight_quant_batchmatmul.md"
  meta  torch_npu 2.13.0, op_plugin/meta/_meta_registrations.py
"""
import torch

operator = "npu_weight_quant_batchmatmul"
schema = (
    "npu_weight_quant_batchmatmul(Tensor x, Tensor weight, "
    "Tensor antiquant_scale, Tensor? antiquant_offset=None, "
    "Tensor? quant_scale=None, Tensor? quant_offset=None, "
    "Tensor? bias=None, int antiquant_group_size=0, int inner_precise=0, "
    "int? weight_dtype=None) -> Tensor"
)
summary = "x times a weight that is kept in int8 or int4 and dequantised on the way"
source = "op-plugin docs: torch_npu-npu_weight_quant_batchmatmul.md"

# No derivative and no fallback is registered: gradients are dropped.
autograd = "silent"
output_differentiability = (True,)

products = ("Atlas A3", "Atlas A2", "Atlas inference accelerator cards")  # page
versions = "2.5.1, 2.7.1, 2.13.0, 2.14.0"


def limits(x, weight, antiquant_scale, antiquant_offset, quant_scale, quant_offset,
           bias, antiquant_group_size, inner_precise, weight_dtype):
    # page, parameter x.
    assert x.dtype in (torch.float16, torch.bfloat16), "x is float16 or bfloat16"
    assert x.dim() == 2, "x has 2 axes"
    # page, parameter weight (int32: eight int4 values; meta: packed otherwise).
    assert weight.dtype in (torch.int8, torch.int32, torch.uint8, torch.float32), (
        "weight is int8 or int4"
    )
    assert weight.dim() == 2, "weight has 2 axes"
    assert weight.dtype != torch.int8 or weight.shape[0] == x.shape[1], (
        "weight's first axis is x's last (K x N, not N x K)"
    )
    assert x.shape[1] <= 65535, "x's last axis is at most 65535"
    assert weight.shape[1] <= 65535, "weight's last axis is at most 65535"
    # page, parameters antiquant_scale and antiquant_offset (int64: packed).
    assert antiquant_scale.dtype in (x.dtype, torch.int64), (
        "antiquant_scale has x's dtype"
    )
    if antiquant_offset is not None:
        assert antiquant_offset.dtype in (x.dtype, torch.int32), (
            "antiquant_offset has x's dtype"
        )
        assert antiquant_offset.shape == antiquant_scale.shape, (
            "antiquant_offset has antiquant_scale's shape"
        )
    assert quant_offset is None or quant_scale is not None, (
        "quant_offset needs quant_scale"
    )
    # page, parameter bias.
    if bias is not None:
        assert x.dtype != torch.float16 or bias.dtype == torch.float16, (
            "bias of a float16 x is float16"
        )
        assert x.dtype != torch.bfloat16 or bias.dtype == torch.float32, (
            "bias of a bfloat16 x is float32"
        )
    # page, parameters antiquant_group_size and inner_precise.
    assert antiquant_group_size == 0 or antiquant_group_size >= 32, (
        "antiquant_group_size is 0 or at least 32"
    )
    assert antiquant_group_size % 32 == 0, "antiquant_group_size is a multiple of 32"
    assert inner_precise in (0, 1), "inner_precise is 0 or 1"


def golden(x, weight, antiquant_scale, antiquant_offset=None, quant_scale=None,
           quant_offset=None, bias=None, antiquant_group_size=0, inner_precise=0,
           weight_dtype=None):
    """Returns (M, N) in x's dtype: x ((weight + offset) * scale) + bias.

    The scale is one value, one for each column, or one for each group of
    antiquant_group_size rows and column. Results that are quantised again
    (quant_scale) and int4 are not emulated.
    """
    assert weight.dtype == torch.int8 and quant_scale is None, (
        "npu_weight_quant_batchmatmul: int4 and quant_scale are not emulated"
    )
    scale, offset = antiquant_scale.float(), antiquant_offset
    offset = torch.zeros_like(scale) if offset is None else offset.float()
    if antiquant_group_size:
        rows = weight.shape[0]
        scale, offset = (
            t.repeat_interleave(antiquant_group_size, 0)[:rows] for t in (scale, offset)
        )
    wide = (weight.float() + offset) * scale
    y = x.float() @ wide
    return (y if bias is None else y + bias.float()).to(x.dtype)
