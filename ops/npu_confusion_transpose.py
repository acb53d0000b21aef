"""npu_confusion_transpose: a permutation and a view, in either order.

Sources, named in the comments below:
  page         op-plugin, docs/zh/custom_APIs/torch_npu, the page
               "(beta) torch_npu-npu_confusion_transpose.md"
  derivatives  op-plugin, op_plugin/config/derivatives.yaml
"""
import torch

operator = "npu_confusion_transpose"
schema = (
    "npu_confusion_transpose(Tensor input, int[] perm, int[] shape, "
    "bool transpose_first) -> Tensor"
)
summary = "permutes and views a tensor in one kernel"
source = "op-plugin docs: torch_npu-npu_confusion_transpose.md"

autograd = "differentiable"  # derivatives: input
output_differentiability = (True,)

products = (
    "Atlas A3 training", "Atlas A2 training", "Atlas training series",
    "Atlas inference series",
)  # page
versions = "2.1.0, 2.5.1, 2.7.1, 2.13.0, 2.14.0"
removal = "use torch.permute and torch.Tensor.view"


def limits(input, perm, shape, transpose_first):
    # page, parameter self. bfloat16 is not listed.
    assert input.dtype in (
        torch.float16, torch.float32, torch.int8, torch.int16, torch.int32,
        torch.int64, torch.uint8
    ), "input is float16, float32 or an integer"
    # page, parameters perm and shape.
    assert not transpose_first or len(perm) == input.dim(), (
        "perm names every axis of input"
    )
    assert transpose_first or len(perm) == len(shape), "perm names every axis of shape"


def golden(input, perm, shape, transpose_first):
    """Returns input permuted, then viewed as shape; or the other way round."""
    if transpose_first:
        return input.permute(perm).reshape(shape)
    return input.reshape(shape).permute(perm)
