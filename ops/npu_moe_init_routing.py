"""npu_moe_init_routing: tokens repeated and sorted by expert, for inference.

Sources, named in the comments below:
  page  op-plugin, docs/zh/custom_APIs/torch_npu, the page
        "torch_npu-npu_moe_init_routing.md"
  meta  torch_npu 2.13.0, op_plugin/meta/_meta_registrations.py
"""
import torch

operator = "npu_moe_init_routing"
schema = (
    "npu_moe_init_routing(Tensor x, Tensor row_idx, Tensor expert_idx, "
    "int active_num) -> (Tensor, Tensor, Tensor)"
)
summary = "sorts tokens by the experts that npu_moe_gating_top_k_softmax chose"
source = "op-plugin docs: torch_npu-npu_moe_init_routing.md"

# No derivative and no fallback is registered: gradients are dropped.
autograd = "silent"
output_differentiability = (True, False, False)

products = ("Atlas A2",)  # page
versions = "2.5.1, 2.7.1, 2.13.0, 2.14.0"


def limits(x, row_idx, expert_idx, active_num):
    # page, parameter x.
    assert x.dtype in (torch.float16, torch.bfloat16, torch.float32), (
        "x is float16, bfloat16 or float32"
    )
    assert x.dim() == 2, "x has 2 axes"
    assert x.numel() < 16777216, "x has fewer than 2**24 elements"
    # page, parameters row_idx and expert_idx.
    assert row_idx.dtype == torch.int32, "row_idx is int32"
    assert expert_idx.dtype == torch.int32, "expert_idx is int32"
    assert expert_idx.dim() == 2, "expert_idx has 2 axes"
    assert row_idx.shape == expert_idx.shape, "row_idx has expert_idx's shape"
    assert expert_idx.shape[0] == x.shape[0], "expert_idx has a row for each token"


def golden(x, row_idx, expert_idx, active_num):
    """Returns the sorted copies (min(T, active_num) * K, H), the place of each
    (token, choice), and the sorted experts (int32, T * K).

    row_idx counts down the columns, as the gate gives it: copy i is of token
    row % T (page).
    """
    count, topk = expert_idx.shape
    experts, order = torch.sort(expert_idx.flatten(), stable=True)
    rows = row_idx.flatten()[order].long()
    places = torch.zeros_like(rows)
    places[rows] = torch.arange(count * topk, device=x.device)
    kept = min(active_num, count) * topk
    return x[rows[:kept] % count], places.to(torch.int32), experts
