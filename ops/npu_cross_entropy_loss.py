"""npu_cross_entropy_loss: log_softmax and negative log likelihood in one.

Sources, named in the comments below:
  page         op-plugin, docs/zh/custom_APIs/torch_npu, the page
               "torch_npu-npu_cross_entropy_loss.md"
  C++          op-plugin, op_plugin/utils/KernelNpuOutputSize.cpp
  meta         torch_npu 2.13.0, op_plugin/meta/_meta_registrations.py
  derivatives  op-plugin, op_plugin/config/derivatives.yaml
  test         op-plugin, test/test_custom_ops/test_npu_cross_entropy_loss.py
"""
import torch

operator = "npu_cross_entropy_loss"
schema = (
    "npu_cross_entropy_loss(Tensor input, Tensor target, Tensor? weight=None, "
    "str reduction='mean', int ignore_index=-100, float label_smoothing=0.0, "
    "float lse_square_scale_for_zloss=0.0, bool return_zloss=False) "
    "-> (Tensor, Tensor, Tensor, Tensor)"
)
summary = "cross entropy of class indices; a negative ignore_index ignores nothing"
source = "op-plugin docs: torch_npu-npu_cross_entropy_loss.md"

# derivatives: a formula for input. The third output is not supported yet.
autograd = "differentiable"
output_differentiability = (True, False, True, False)

products = ("Ascend 950DT", "Atlas A3", "Atlas A2")  # page, table of products
versions = "2.5.1, 2.7.1, 2.13.0, 2.14.0"


def limits(input, target, weight, reduction, ignore_index, label_smoothing,
           lse_square_scale_for_zloss, return_zloss):
    # page, parameter input: [N, C] of the three floating types.
    assert input.dtype in (torch.float16, torch.bfloat16, torch.float32), (
        "the input is float16, bfloat16 or float32"
    )
    assert input.dim() == 2, "the input has 2 dimensions"
    assert input.shape[1] > 0, "there is at least one class"
    # page, constraints: N from 1 to 200000.
    assert input.shape[0] > 0, "there is at least one row"
    assert input.shape[0] <= 200000, "there are at most 200000 rows"
    # page, parameter target: the class of each row, from 0 to C - 1 always.
    assert target.dtype == torch.int64, "target is int64"
    assert target.dim() == 1, "target has 1 dimension"
    assert target.shape[0] == input.shape[0], "target has one class a row"
    # page, parameter weight.
    if weight is not None:
        assert weight.dtype == torch.float32, "weight is float32"
        assert weight.dim() == 1, "weight has 1 dimension"
        assert weight.shape[0] == input.shape[1], "weight has one element a class"
        # page, constraints: with a gradient and "mean", defaults only.
        assert not input.requires_grad or reduction != "mean", (
            "a mean that needs a gradient takes no weight"
        )
    # page, parameters reduction, ignore_index and label_smoothing.
    assert reduction in ("mean", "sum", "none"), "reduction is mean, sum or none"
    assert ignore_index < input.shape[1], "ignore_index is below the classes' number"
    assert label_smoothing >= 0, "label_smoothing is at least 0"
    assert label_smoothing < 1, "label_smoothing is below 1"
    # page, constraints: with a gradient no smoothing; and defaults only of "mean".
    assert not input.requires_grad or label_smoothing == 0, (
        "a loss that needs a gradient has no label_smoothing"
    )
    assert not input.requires_grad or reduction != "mean" or ignore_index == -100, (
        "a mean that needs a gradient ignores no index"
    )
    # page, constraints: not supported yet.
    assert lse_square_scale_for_zloss == 0, "lse_square_scale_for_zloss is 0"
    assert not return_zloss, "return_zloss is False"


def golden(input, target, weight=None, reduction="mean", ignore_index=-100,
           label_smoothing=0.0, lse_square_scale_for_zloss=0.0, return_zloss=False):
    """Returns loss, log_prob (N by C), zloss and lse, of the input's dtype.

    loss has shape [N] for "none", else [1]: no scalar. In float32 with one cast
    (test). A negative ignore_index ignores nothing: such a target is an error.
    zloss and lse are empty (page and C++; meta gives them a shape).
    """
    log_prob = torch.log_softmax(input.float(), 1)
    if weight is None:
        weight = input.new_ones(input.shape[1], dtype=torch.float32)
    kept = weight.gather(0, target)
    loss = -log_prob.gather(1, target.unsqueeze(1)).squeeze(1) * kept
    smooth = -(log_prob * weight).sum(1)
    if ignore_index >= 0:
        counts = (target != ignore_index).float()
        kept, loss, smooth = kept * counts, loss * counts, smooth * counts
    share = label_smoothing / input.shape[1]
    loss = (1 - label_smoothing) * loss + share * smooth
    if reduction != "none":
        loss = loss.sum().reshape(1)
    if reduction == "mean":
        loss = loss / kept.sum()
    dtype = input.dtype
    return loss.to(dtype), log_prob.to(dtype), input.new_empty(0), input.new_empty(0)
