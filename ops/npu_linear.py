"""npu_linear: a matrix product with a transposed weight, of two axes.

Sources, named in the comments below:
  page         op-plugin, docs/zh/custom_APIs/torch_npu, the page
               "(beta) torch_npu-npu_linear.md"
  meta         torch_npu 2.13.0, op_plugin/meta/_meta_registrations.py
  derivatives  op-plugin, op_plugin/config/derivatives.yaml
"""
import torch

operator = "npu_linear"
schema = (
    "npu_linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor"
)
summary = "x times the transposed weight plus bias, of two axes"
source = "op-plugin docs: torch_npu-npu_linear.md"

autograd = "differentiable"  # derivatives: input, weight and bias
output_differentiability = (True,)

products = (
    "Atlas A3 training", "Atlas A2 training", "Atlas inference series",
    "Atlas training series",
)  # page
versions = "2.1.0, 2.5.1, 2.7.1, 2.13.0, 2.14.0"


def limits(input, weight, bias):
    # page, parameter input. bfloat16 is not listed.
    assert input.dtype in (torch.float32, torch.float16, torch.int32, torch.int8), (
        "input is float32, float16, int32 or int8"
    )
    assert input.dim() == 2, "input has 2 axes"
    # page, parameter weight.
    assert weight.dtype == input.dtype, "weight has input's dtype"
    assert weight.dim() == 2, "weight has 2 axes"
    assert weight.shape[1] == input.shape[1], "weight is as wide as input"
    # page, parameter bias.
    if bias is not None:
        assert bias.dtype in (torch.float32, torch.float16, torch.int32), (
            "bias is float32, float16 or int32"
        )
        assert bias.dim() == 1, "bias has 1 axis"
        assert bias.shape[0] == weight.shape[0], "bias has a value for each output"


def golden(input, weight, bias=None):
    """Returns (rows of input, rows of weight) in input's dtype; one cast."""
    wide = input.float() if input.is_floating_point() else input.double()
    y = wide @ weight.to(wide.dtype).t()
    if bias is not None:
        y = y + bias.to(wide.dtype)
    return y.to(input.dtype)
