"""npu_silu: y = x * sigmoid(x).

Sources, named in the comments below:
  page         op-plugin, docs/zh/custom_APIs/torch_npu, the page
               "(beta) torch_npu-npu_silu.md"
  meta         torch_npu 2.13.0, op_plugin/meta/_meta_registrations.py
  derivatives  op-plugin, op_plugin/config/derivatives.yaml
"""
import torch

operator = "npu_silu"
# The page's prototype calls the argument `self`.
schema = "npu_silu(Tensor input) -> Tensor"
summary = "SiLU, also known as Swish"
source = "op-plugin docs: torch_npu-npu_silu.md"
removal = "use torch.nn.functional.silu"  # page: planned for removal

autograd = "differentiable"  # derivatives: npu_silu_backward
output_differentiability = (True,)

# page, table of products.
products = (
    "Atlas A3",
    "Atlas A2",
    "Atlas training series",
    "Atlas inference series",
)
versions = "2.1.0, 2.5.1, 2.7.1, 2.13.0, 2.14.0"


def limits(input):
    # page, parameter self: no bfloat16.
    assert input.dtype in (torch.float16, torch.float32), (
        "the input is float16 or float32"
    )


def golden(input):
    """Returns y: the input's shape and dtype.

    Internal precision is not documented; float32 with one cast is assumed.
    """
    x = input.float()
    return (x * torch.sigmoid(x)).to(input.dtype)
