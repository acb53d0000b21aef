"""npu_quant_matmul: an int8 matrix product, scaled.

Sources, named in the comments below:
  page  op-plugin, docs/zh/custom_APIs/torch_npu, the page
        "torch_npu-npu_quant_matmul.md"
  meta  torch_npu 2.13.0, op_plugin/meta/_meta_registrations.py
"""
import torch

from npufuse import groups

operator = "npu_quant_matmul"
schema = (
    "npu_quant_matmul(Tensor x1, Tensor x2, Tensor scale, *, "
    "Tensor? offset=None, Tensor? pertoken_scale=None, Tensor? bias=None, "
    "int? output_dtype=None, int? x1_dtype=None, int? x2_dtype=None, "
    "int? pertoken_scale_dtype=None, int? scale_dtype=None, "
    "int[]? group_sizes=None, Tensor? y_scale=None) -> Tensor"
)
summary = "an int8 matrix product with scales, offset and bias; int8 out by default"
source = "op-plugin docs: torch_npu-npu_quant_matmul.md"

# No derivative and no fallback is registered: gradients are dropped.
autograd = "silent"
output_differentiability = (False,)

products = ("Atlas A3", "Atlas A2", "Atlas inference accelerator cards")  # page
versions = "2.5.1, 2.7.1, 2.13.0, 2.14.0"


def limits(x1, x2, scale, offset, pertoken_scale, bias, output_dtype, x1_dtype,
           x2_dtype, pertoken_scale_dtype, scale_dtype, group_sizes, y_scale):
    # page, parameters x1 and x2 (int32: eight int4 values).
    assert x1.dtype in (torch.int8, torch.int32), "x1 is int8 or int4"
    assert x2.dtype in (torch.int8, torch.int32), "x2 is int8 or int4"
    assert x1.dim() >= 2, "x1 has at least 2 axes"
    assert x1.dim() <= 6, "x1 has at most 6 axes"
    assert x2.dim() >= 2, "x2 has at least 2 axes"
    assert x2.dim() <= 6, "x2 has at most 6 axes"
    assert x1.dtype != torch.int8 or x2.dtype != torch.int8 or (
        x1.shape[-1] == x2.shape[-2]
    ), "x2's last axis but one is x1's last (K x N, not N x K)"
    # page, constraints.
    assert x1.shape[-1] <= 65535, "x1's last axis is at most 65535"
    assert x2.shape[-1] <= 65535, "x2's last axis is at most 65535"
    # page, parameter scale.
    assert scale.dtype in (torch.float32, torch.int64, torch.bfloat16), (
        "scale is float32, int64 or bfloat16"
    )
    assert scale.dim() in (1, 2), "scale has 1 axis, or 2 for groups"
    assert x2.dtype != torch.int8 or scale.dim() == 2 or (
        scale.shape[0] in (1, x2.shape[-1])
    ), "scale has 1 value or one for each column"
    # page, parameters offset, pertoken_scale, bias.
    if offset is not None:
        assert offset.dtype in (torch.float32, torch.float16), (
            "offset is float32 or float16"
        )
    if pertoken_scale is not None:
        assert pertoken_scale.dtype == torch.float32, "pertoken_scale is float32"
        assert pertoken_scale.dim() != 1 or pertoken_scale.shape[0] == x1.shape[-2], (
            "pertoken_scale has a value for each row"
        )
    if bias is not None:
        assert bias.dtype in (
            torch.int32, torch.bfloat16, torch.float16, torch.float32
        ), "bias is int32, bfloat16, float16 or float32"
        assert bias.dim() in (1, 3), "bias has 1 or 3 axes"
    # page, parameter output_dtype, by number as well (meta).
    assert output_dtype in (
        None, 1, 3, 5, 15, torch.int8, torch.int32, torch.float16, torch.bfloat16
    ), "output_dtype is int8, int32, float16 or bfloat16"
    if group_sizes is not None:
        assert len(group_sizes) == 3, "group_sizes has 3 values"


def golden(x1, x2, scale, offset=None, pertoken_scale=None, bias=None,
           output_dtype=None, x1_dtype=None, x2_dtype=None,
           pertoken_scale_dtype=None, scale_dtype=None, group_sizes=None,
           y_scale=None):
    """Returns the product, broadcast, in output_dtype (int8 by default).

    An int32 bias is added before the scale, another after it; int8 results
    are rounded to even and clamped. Groups, int4 and packed scales (int64)
    are not emulated.
    """
    assert x1.dtype == torch.int8 and x2.dtype == torch.int8, (
        "npu_quant_matmul: int4 is not emulated"
    )
    assert scale.dtype != torch.int64 and scale.dim() == 1 and group_sizes is None, (
        "npu_quant_matmul: packed scales and groups are not emulated"
    )
    dtype = groups.dtype_of(output_dtype, torch.int8)
    y = x1.double() @ x2.double()
    if bias is not None and bias.dtype == torch.int32:
        y, bias = y + bias, None
    if dtype != torch.int32:
        y = y.float() * scale.float()
        if pertoken_scale is not None:
            y = y * pertoken_scale.unsqueeze(-1)
    for more in (offset, bias):
        y = y if more is None else y + more.float()
    if dtype == torch.int8:
        y = y.round().clamp(-128, 127)
    return y.to(dtype)
