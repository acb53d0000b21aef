"""npu_sort_v2: sorted values, without their indices.

Sources, named in the comments below:
  page  op-plugin, docs/zh/custom_APIs/torch_npu, the page
        "(beta) torch_npu-npu_sort_v2.md"
"""
import torch

operator = "npu_sort_v2"
schema = (
    "npu_sort_v2(Tensor input, int dim=-1, bool descending=False) -> Tensor"
)
summary = "sorts the last axis and returns the values alone"
source = "op-plugin docs: torch_npu-npu_sort_v2.md"

# No derivative and no fallback is registered: gradients are dropped.
autograd = "silent"
output_differentiability = (True,)

products = (
    "Atlas A3 training", "Atlas A2 training", "Atlas training series",
    "Atlas inference series",
)  # page
versions = "2.1.0, 2.5.1, 2.7.1, 2.13.0, 2.14.0"
removal = "use torch.sort"


def limits(input, dim, descending):
    # page, constraints: the last axis.
    assert input.dim() >= 1, "input has at least 1 axis"
    assert dim == -1 or dim == input.dim() - 1, "dim is the last axis"


def golden(input, dim=-1, descending=False):
    """Returns the sorted values: input's shape and dtype."""
    return torch.sort(input, dim, descending)[0]
