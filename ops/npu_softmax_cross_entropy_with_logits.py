"""npu_softmax_cross_entropy_with_logits: -sum(labels * log_softmax(input)).

Sources, named in the comments below:
  page         op-plugin, docs/zh/custom_APIs/torch_npu, the page
               "(beta) torch_npu-npu_softmax_cross_entropy_with_logits.md"
  C++          op-plugin, op_plugin/ops/aclops/SoftmaxCrossEntropyWithLogitsKernelNpu.cpp
  meta         torch_npu 2.13.0, op_plugin/meta/_meta_registrations.py
  derivatives  op-plugin, op_plugin/config/derivatives.yaml
  test         op-plugin, test/test_base_ops/test_softmaxcrossentropywithlogits.py
"""
import torch

operator = "npu_softmax_cross_entropy_with_logits"
# The page's prototype calls the first argument `features`.
schema = (
    "npu_softmax_cross_entropy_with_logits(Tensor input, Tensor labels) -> Tensor"
)
summary = "cross entropy of probabilities, one value a row"
source = "op-plugin docs: torch_npu-npu_softmax_cross_entropy_with_logits.md"
# page: planned for removal, the kernel is not maintained any more.
removal = "use torch.nn.functional.cross_entropy"

# derivatives: a formula for `self`, none for labels. C++: it is
# softmax - labels, the derivative where the labels of a row add up to 1.
autograd = "differentiable"
output_differentiability = (True,)

# page, table of products. The last two have no bfloat16.
products = (
    "Atlas A3",
    "Atlas A2",
    "Atlas inference series (no bfloat16)",
    "Atlas training series (no bfloat16)",
)
versions = "2.1.0, 2.5.1, 2.7.1, 2.13.0, 2.14.0"


def limits(input, labels):
    # page, parameter features: the three floating types. (It says at most 2
    # dimensions; meta, C++ and test: rows of classes.)
    assert input.dtype in (torch.float16, torch.bfloat16, torch.float32), (
        "the input is float16, bfloat16 or float32"
    )
    assert input.dim() == 2, "the input has 2 dimensions"
    # page, parameter labels: the same shape and dtype.
    assert labels.dtype == input.dtype, "labels have the input's dtype"
    assert labels.shape == input.shape, "labels have the input's shape"


def golden(input, labels):
    """Returns the loss of each row, of the input's dtype (C++; meta says float32).

    Internal precision is not documented; float32 with one cast is assumed.
    """
    log_prob = torch.log_softmax(input.float(), 1)
    return -(labels.detach().float() * log_prob).sum(1).to(input.dtype)
