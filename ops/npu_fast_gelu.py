"""npu_fast_gelu: y = x * sigmoid(1.702 * x), known as QuickGELU.

Sources, named in the comments below:
  page         op-plugin, docs/zh/custom_APIs/torch_npu,
               "torch_npu-npu_fast_gelu.md"
  meta         torch_npu 2.13.0, op_plugin/meta/_meta_registrations.py
  derivatives  op-plugin, op_plugin/config/derivatives.yaml
"""
import torch

operator = "npu_fast_gelu"
schema = "npu_fast_gelu(Tensor input) -> Tensor"
summary = "QuickGELU, not GELU"
source = "op-plugin docs: torch_npu-npu_fast_gelu.md"

autograd = "differentiable"  # derivatives: npu_fast_gelu_backward
output_differentiability = (True,)

# page, table of products. The last two have another formula and no bfloat16;
# golden() is that of the first three.
products = (
    "Ascend 950PR/950DT",
    "Atlas A3",
    "Atlas A2",
    "Atlas inference series (another formula)",
    "Atlas training series (another formula)",
)
versions = "2.1.0, 2.5.1, 2.7.1, 2.13.0, 2.14.0"


def limits(input):
    # page, parameter self: dtypes by product.
    assert input.dtype in (torch.float16, torch.bfloat16, torch.float32), (
        "the input is float16, bfloat16 or float32"
    )
    # page, parameter self: at most 8 dimensions.
    assert input.dim() <= 8, "the input has at most 8 dimensions"


def golden(input):
    """Returns y: the input's shape and dtype.

    Internal precision is not documented; float32 with one cast is assumed.
    """
    x = input.float()
    return (x * torch.sigmoid(1.702 * x)).to(input.dtype)
