"""npu_top_k_top_p: logits outside of top k and top p become -inf.

Sources, named in the comments below:
  page  op-plugin, docs/zh/custom_APIs/torch_npu, the page
        "torch_npu-npu_top_k_top_p.md"
  meta  torch_npu 2.13.0, op_plugin/meta/_meta_registrations.py
"""
import torch

operator = "npu_top_k_top_p"
schema = (
    "npu_top_k_top_p(Tensor logits, Tensor? p=None, Tensor? k=None) -> "
    "Tensor"
)
summary = "keeps the logits within top k, then within top p, of each row"
source = "op-plugin docs: torch_npu-npu_top_k_top_p.md"

# No derivative and no fallback is registered: gradients are dropped.
autograd = "silent"
output_differentiability = (True,)

products = ("Ascend 950DT", "Atlas A3", "Atlas A2")  # page
versions = "2.7.1, 2.13.0, 2.14.0"


def limits(logits, p, k):
    # page, parameter logits.
    assert logits.dtype in (torch.float32, torch.float16, torch.bfloat16), (
        "logits is float32, float16 or bfloat16"
    )
    assert logits.dim() == 2, "logits has 2 axes"
    # page, parameter p: the second argument.
    if p is not None:
        assert p.dtype == logits.dtype, "p has logits' dtype"
        assert p.dim() == 1, "p has 1 axis"
        assert p.shape[0] == logits.shape[0], "p has a value for each row"
    # page, parameter k.
    if k is not None:
        assert k.dtype == torch.int32, "k is int32"
        assert k.dim() == 1, "k has 1 axis"
        assert k.shape[0] == logits.shape[0], "k has a value for each row"


def golden(logits, p=None, k=None):
    """Returns logits with -inf where they are filtered out.

    A value below the k-th largest goes; of the rest, the least whose
    cumulative probability is at most 1 - p. One value always stays (page).
    """
    values, order = torch.sort(logits, dim=-1, stable=True)
    lowest = float("-inf")
    if k is not None:
        place = values.shape[1] - k.long().unsqueeze(1)
        values = values.masked_fill(values < values.gather(1, place), lowest)
    if p is not None:
        wide = values.float()
        weights = torch.exp(wide - wide.amax(-1, keepdim=True))
        up_to = (weights / weights.sum(-1, keepdim=True)).cumsum(-1)
        out = up_to <= 1.0 - p.float().unsqueeze(1)
        out[:, -1] = False
        values = values.masked_fill(out, lowest)
    return torch.empty_like(logits).scatter(1, order, values)
