"""npu_gelu: y = x * Phi(x), exact or by its tanh approximation.

Sources, named in the comments below:
  page         op-plugin, docs/zh/custom_APIs/torch_npu, the page
               "torch_npu-npu_gelu.md"
  C++          op-plugin, op_plugin/config/op_plugin_functions.yaml
  meta         torch_npu 2.13.0, op_plugin/meta/_meta_registrations.py
  derivatives  op-plugin, op_plugin/config/derivatives.yaml
  test         op-plugin, test/test_custom_ops/test_npu_gelu.py
"""
import torch

operator = "npu_gelu"
# The page's prototype hides that approximate is keyword-only.
schema = "npu_gelu(Tensor input, *, str approximate='none') -> Tensor"
summary = "GELU, by the error function or by tanh"
source = "op-plugin docs: torch_npu-npu_gelu.md"

autograd = "differentiable"  # derivatives: npu_gelu_backward
output_differentiability = (True,)

# page, table of products. The last two have no bfloat16.
products = (
    "Atlas A2",
    "Atlas training series (no bfloat16)",
    "Atlas inference series (no bfloat16)",
)
versions = "2.5.1, 2.7.1, 2.13.0, 2.14.0"


def limits(input, approximate):
    # page, parameter input: dtypes by product.
    assert input.dtype in (torch.float16, torch.bfloat16, torch.float32), (
        "the input is float16, bfloat16 or float32"
    )
    # page, parameter input: at most 8 dimensions; strides are free.
    assert input.dim() <= 8, "the input has at most 8 dimensions"
    # page, parameter approximate.
    assert approximate in ("none", "tanh"), "approximate is none or tanh"


def golden(input, approximate="none"):
    """Returns y: the input's shape and dtype.

    Internal precision is not documented; float32 with one cast is assumed.
    """
    x = input.float()
    if approximate == "tanh":
        inner = 0.7978845608028654 * (x + 0.044715 * x * x * x)
        return (0.5 * x * (1.0 + torch.tanh(inner))).to(input.dtype)
    return (0.5 * x * (1.0 + torch.erf(x * 0.7071067811865476))).to(input.dtype)
