"""npu_dropout_with_add_softmax: dropout(softmax(x1 + alpha * input)).

Sources, named in the comments below:
  page         op-plugin, docs/zh/custom_APIs/torch_npu, the page
               "(beta) torch_npu-npu_dropout_with_add_softmax.md"
  C++          op-plugin, op_plugin/ops/aclops/DropoutWithAddSoftmaxKernelNpu.cpp
  meta         torch_npu 2.13.0, op_plugin/meta/_meta_registrations.py
  derivatives  op-plugin, op_plugin/config/derivatives.yaml
  test         op-plugin, test/test_base_ops/test_dropout_with_add_softmax.py
"""
import torch

operator = "npu_dropout_with_add_softmax"
# The page's prototype calls the first argument `self`.
schema = (
    "npu_dropout_with_add_softmax(Tensor input, Tensor x1, Scalar alpha, "
    "float prob, int dim) -> (Tensor, Tensor, Tensor)"
)
summary = "softmax of a scaled sum, with dropout; returns mask, softmax and result"
source = "op-plugin docs: torch_npu-npu_dropout_with_add_softmax.md"
# page: planned for removal, the kernel is not maintained any more.
removal = "use torch.softmax and torch.nn.functional.dropout"

# derivatives: a formula for `self` and `x1`, by the third output: see limits().
autograd = "differentiable"
output_differentiability = (False, False, True)

# page, table of products.
products = (
    "Atlas A3",
    "Atlas A2",
    "Atlas inference series",
    "Atlas training series",
)
versions = "2.1.0, 2.5.1, 2.7.1, 2.13.0, 2.14.0"


def limits(input, x1, alpha, prob, dim):
    # No dtype is documented; test: half and float32.
    assert input.dtype in (torch.float16, torch.float32), (
        "the input is float16 or float32"
    )
    assert x1.dtype == input.dtype, "x1 has the input's dtype"
    # page, constraints: NCHW, N * C a multiple of 32, H and W of four sizes.
    assert input.dim() == 4, "the input has 4 dimensions"
    assert x1.shape == input.shape, "x1 has the input's shape"
    assert input.shape[0] * input.shape[1] % 32 == 0, (
        "the first two axes have a multiple of 32 rows"
    )
    assert input.shape[2] in (128, 256, 384, 512), (
        "the last two axes have 128, 256, 384 or 512 elements"
    )
    assert input.shape[3] in (128, 256, 384, 512), (
        "the last two axes have 128, 256, 384 or 512 elements"
    )
    # page, parameter prob: what is dropped.
    assert prob >= 0, "prob is at least 0"
    assert prob < 1, "prob is below 1"
    # page, parameter dim.
    assert dim == -1, "dim is -1"
    # C++, backward: the gradient of x1 is that of the result, as it came in.
    assert not x1.requires_grad, "x1 needs no gradient: it would get a wrong one"


def golden(input, x1, alpha, prob, dim):
    """Returns mask (uint8, flat), softmax and result (the input's dtype).

    Without dropout alone: the device's random numbers are not emulated.
    Internal precision is not documented; float32 with one cast is assumed.
    """
    assert prob == 0, "npu_dropout_with_add_softmax: dropout is not emulated"
    softmax = torch.softmax(x1.float() + alpha * input.float(), dim).to(input.dtype)
    mask = torch.ones(input.numel(), dtype=torch.uint8, device=input.device)
    return mask, softmax, softmax * 1
