"""npu_gelu_mul: GELU of the first half of the last axis times the second half.

Sources, named in the comments below:
  page         op-plugin, docs/zh/custom_APIs/torch_npu, the page
               "torch_npu-npu_gelu_mul.md"
  meta         torch_npu 2.13.0, op_plugin/meta/_meta_registrations.py
  derivatives  op-plugin, op_plugin/config/derivatives.yaml
  test         op-plugin, test/test_custom_ops/test_npu_gelu_mul.py
"""
import torch

operator = "npu_gelu_mul"
schema = "npu_gelu_mul(Tensor input, *, str approximate='none') -> Tensor"
summary = "GELU of the first half times the second half, of a short last axis"
source = "op-plugin docs: torch_npu-npu_gelu_mul.md"

# derivatives: no entry, and no fallback: gradients are lost with a warning.
autograd = "silent"
output_differentiability = (True,)

# page, table of products.
products = (
    "Ascend 950DT",
    "Atlas A3",
    "Atlas A2",
    "Atlas inference series",
    "Atlas training series",
)
versions = "2.13.0, 2.14.0"


def limits(input, approximate):
    # page, parameter input: the three floating types.
    assert input.dtype in (torch.float16, torch.bfloat16, torch.float32), (
        "the input is float16, bfloat16 or float32"
    )
    # page, parameter input: 2 to 8 dimensions, an even last axis of at most
    # 1024, at most 200000 rows. (It pays where that axis fills 32 bytes.)
    assert input.dim() >= 2, "the input has at least 2 dimensions"
    assert input.dim() <= 8, "the input has at most 8 dimensions"
    assert input.shape[-1] % 2 == 0, "the last axis has an even size"
    assert input.shape[-1] <= 1024, "the last axis is at most 1024"
    assert input.numel() <= 200000 * input.shape[-1], (
        "the input has at most 200000 rows"
    )
    # page, parameter approximate.
    assert approximate in ("none", "tanh"), "approximate is none or tanh"


def golden(input, approximate="none"):
    """Returns y: half of the last axis, the input's dtype.

    The product is that of the rounded GELU (test, on a CPU in float16).
    """
    half = input.shape[-1] // 2
    x, other = input[..., :half].float(), input[..., half:]
    if approximate == "tanh":
        inner = 0.7978845608028654 * (x + 0.044715 * x * x * x)
        gelu = 0.5 * x * (1.0 + torch.tanh(inner))
    else:
        gelu = 0.5 * x * (1.0 + torch.erf(x * 0.7071067811865476))
    return gelu.to(input.dtype) * other
