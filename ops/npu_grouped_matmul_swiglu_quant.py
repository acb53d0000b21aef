"""npu_grouped_matmul_swiglu_quant: int8 products of groups, swiglu, int8 again.

Sources, named in the comments below:
  docstring  torch_npu 2.13.0, _op_plugin_docs.py, entry npu_grouped_matmul_swiglu_quant
  meta       torch_npu 2.13.0, op_plugin/meta/_meta_registrations.py
  test       op-plugin, test/test_custom_ops/
             test_npu_grouped_matmul_swiglu_quant.py
"""
import torch

from npufuse import groups

operator = "npu_grouped_matmul_swiglu_quant"
schema = (
    "npu_grouped_matmul_swiglu_quant(Tensor x, Tensor weight, "
    "Tensor group_list, Tensor weight_scale, Tensor x_scale, *, "
    "Tensor? bias=None, Tensor? offset=None) -> (Tensor, Tensor, Tensor)"
)
summary = "grouped int8 products, dequantised, through swiglu and quantised per token"
source = "torch_npu docstring: npu_grouped_matmul_swiglu_quant"

# No derivative and no fallback is registered: gradients are dropped.
autograd = "silent"
output_differentiability = (False, False, False)

products = ("Atlas A2", "Atlas A3")  # docstring
versions = "2.7.1, 2.13.0, 2.14.0"

roles = ("group_list: group_list",)


def limits(x, weight, group_list, weight_scale, x_scale, bias, offset):
    # docstring, parameters x and weight (five axes in NZ format).
    assert x.dtype == torch.int8, "x is int8"
    assert x.dim() == 2, "x has 2 axes"
    assert weight.dtype == torch.int8, "weight is int8"
    assert weight.dim() in (3, 5), "weight has 3 axes, or 5 in NZ format"
    # docstring, parameter group_list: cumulative, one for each expert.
    assert group_list.dtype == torch.int64, "group_list is int64"
    assert group_list.dim() == 1, "group_list has 1 axis"
    assert group_list.shape[0] == weight.shape[0], "there is a group for each weight"
    # docstring, the scales.
    assert weight_scale.dtype in (torch.float32, torch.float16, torch.bfloat16), (
        "weight_scale is float32, float16 or bfloat16"
    )
    assert weight_scale.dim() == 2, "weight_scale has 2 axes"
    assert weight_scale.shape[0] == weight.shape[0], (
        "weight_scale has a row for each weight"
    )
    assert weight_scale.shape[1] % 2 == 0, "weight_scale has an even width"
    assert x_scale.dtype == torch.float32, "x_scale is float32"
    assert x_scale.dim() == 1, "x_scale has 1 axis"
    assert x_scale.shape[0] == x.shape[0], "x_scale has a value for each row"
    # docstring: reserved.
    assert bias is None, "bias is not supported"
    assert offset is None, "offset is not supported"


def golden(x, weight, group_list, weight_scale, x_scale, bias=None, offset=None):
    """Returns int8 (M, N / 2), its scales (float32, M), and nothing.

    silu of the first half times the second half, then a symmetric scale of
    each row (test). Rows of no group are zero here.
    """
    assert weight.dim() == 3, "npu_grouped_matmul_swiglu_quant: NZ is not emulated"
    half = weight_scale.shape[1] // 2
    out = torch.zeros(x.shape[0], half, dtype=torch.int8, device=x.device)
    scales = torch.zeros(x.shape[0], dtype=torch.float32, device=x.device)
    for group, a, b in groups.group_spans(group_list, 0, len(weight)):
        if a == b:
            continue
        y = (x[a:b].double() @ weight[group].double()).float()
        y = y * weight_scale[group].float() * x_scale[a:b].unsqueeze(1)
        y = y[:, :half] * torch.sigmoid(y[:, :half]) * y[:, half:]
        top = y.abs().amax(-1)
        out[a:b] = torch.round(y * (127.0 / top).unsqueeze(1)).to(torch.int8)
        scales[a:b] = top / 127.0
    return out, scales, torch.zeros((), dtype=torch.float32, device=x.device)
