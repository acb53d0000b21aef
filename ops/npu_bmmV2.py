"""npu_bmmV2: a batched matrix product.

Sources, named in the comments below:
  page         op-plugin, docs/zh/custom_APIs/torch_npu, the page
               "(beta) torch_npu-npu_bmmV2.md"
  meta         torch_npu 2.13.0, op_plugin/meta/_meta_registrations.py
  derivatives  op-plugin, op_plugin/config/derivatives.yaml
"""
import torch

operator = "npu_bmmV2"
schema = (
    "npu_bmmV2(Tensor input, Tensor mat2, int[] output_sizes) -> Tensor"
)
summary = "a batched matrix product with an output shape of choice"
source = "op-plugin docs: torch_npu-npu_bmmV2.md"

autograd = "differentiable"  # derivatives: input and mat2
output_differentiability = (True,)

products = (
    "Atlas A3 training", "Atlas A2 training", "Atlas training series",
    "Atlas inference series",
)  # page
versions = "2.1.0, 2.5.1, 2.7.1, 2.13.0, 2.14.0"
removal = "use torch.bmm and torch.Tensor.view"


def limits(input, mat2, output_sizes):
    # page, parameters self and mat2.
    assert input.dtype in (torch.float16, torch.float32, torch.int32), (
        "input is float16, float32 or int32"
    )
    assert mat2.dtype == input.dtype, "mat2 has input's dtype"
    assert input.dim() >= 2, "input has at least 2 axes"
    assert mat2.dim() >= 2, "mat2 has at least 2 axes"
    assert mat2.shape[-2] == input.shape[-1], "mat2's last axis but one is input's last"


def golden(input, mat2, output_sizes):
    """Returns the product in input's dtype, viewed as output_sizes if given."""
    if input.is_floating_point():
        y = (input.float() @ mat2.float()).to(input.dtype)
    else:
        y = (input.double() @ mat2.double()).to(input.dtype)
    return y.reshape(output_sizes) if output_sizes else y
