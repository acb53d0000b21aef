"""npu_moe_compute_expert_tokens: where each expert's rows end.

Sources, named in the comments below:
  page  op-plugin, docs/zh/custom_APIs/torch_npu, the page
        "torch_npu-npu_moe_compute_expert_tokens.md"
  meta  torch_npu 2.13.0, op_plugin/meta/_meta_registrations.py
  test  op-plugin, test/test_custom_ops/test_npu_moe_compute_tokens.py
"""
import torch

operator = "npu_moe_compute_expert_tokens"
schema = (
    "npu_moe_compute_expert_tokens(Tensor sorted_expert_for_source_row, "
    "int num_expert) -> Tensor"
)
summary = "the cumulative number of rows of each expert in a sorted list of experts"
source = "op-plugin docs: torch_npu-npu_moe_compute_expert_tokens.md"

autograd = "silent"  # of integers
output_differentiability = (False,)

products = ("Ascend 950PR/950DT", "Atlas A2")  # page
versions = "2.5.1, 2.7.1, 2.13.0, 2.14.0"


def limits(sorted_expert_for_source_row, num_expert):
    # page, parameter sorted_expert_for_source_row.
    assert sorted_expert_for_source_row.dtype == torch.int32, (
        "sorted_expert_for_source_row is int32"
    )
    assert sorted_expert_for_source_row.dim() == 1, (
        "sorted_expert_for_source_row has 1 axis"
    )
    assert sorted_expert_for_source_row.numel() < 16777216, (
        "sorted_expert_for_source_row has fewer than 2**24 elements"
    )
    # page, parameter num_expert.
    assert num_expert > 0, "num_expert is more than 0"
    assert num_expert <= 2048, "num_expert is at most 2048"


def golden(sorted_expert_for_source_row, num_expert):
    """Returns int32 (num_expert,): the rows of experts up to each one (test).

    npu_grouped_matmul takes them as its cumulative group_list, as int64.
    """
    experts = torch.arange(num_expert, device=sorted_expert_for_source_row.device)
    up_to = sorted_expert_for_source_row.unsqueeze(0) <= experts.unsqueeze(1)
    return up_to.sum(1).to(torch.int32)
