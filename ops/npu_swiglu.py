"""npu_swiglu: y = silu(A) * B, A and B the halves of the input along dim.

Sources, named in the comments below:
  page         op-plugin, docs/zh/custom_APIs/torch_npu, the page
               "(beta) torch_npu-npu_swiglu.md"
  meta         torch_npu 2.13.0, op_plugin/meta/_meta_registrations.py
  derivatives  op-plugin, op_plugin/config/derivatives.yaml
  test         op-plugin, test/test_custom_ops/test_npu_swi_glu.py
"""
import torch

operator = "npu_swiglu"
schema = "npu_swiglu(Tensor input, int dim=-1) -> Tensor"
summary = "SiLU of the first half times the second half"
source = "op-plugin docs: torch_npu-npu_swiglu.md"

autograd = "differentiable"  # derivatives: npu_swiglu_backward
output_differentiability = (True,)

# page, table of products.
products = ("Ascend 950PR/950DT", "Atlas A2 training")
versions = "2.5.1, 2.7.1, 2.13.0, 2.14.0"


def limits(input, dim):
    # page, parameter input: the three floating types.
    assert input.dtype in (torch.float16, torch.bfloat16, torch.float32), (
        "the input is float16, bfloat16 or float32"
    )
    # page, parameter input: 1 to 8 dimensions.
    assert input.dim() >= 1, "the input has at least 1 dimension"
    assert input.dim() <= 8, "the input has at most 8 dimensions"
    # page, parameter dim: within [-input.dim(), input.dim() - 1].
    assert dim >= -input.dim(), "dim names an axis of the input"
    assert dim < input.dim(), "dim names an axis of the input"
    # page, parameter input: divisible by 2 along dim. (meta floors silently.)
    assert input.shape[dim] % 2 == 0, "the split axis has an even size"
    # page, parameter input: neither strided nor empty tensors.
    assert input.is_contiguous(), "the input is contiguous"
    assert input.numel() > 0, "the input is not empty"


def golden(input, dim=-1):
    """Returns y: dim halved, the input's dtype.

    Both halves in float32, one cast at the end (test): the activated half is
    not rounded before the product.
    """
    half = input.shape[dim] // 2
    first = input.narrow(dim, 0, half).float()
    second = input.narrow(dim, half, half).float()
    # sigmoid, because exp(-first) overflows, and its gradient is nan then.
    return (first * torch.sigmoid(first) * second).to(input.dtype)
