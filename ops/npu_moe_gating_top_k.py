"""npu_moe_gating_top_k: experts by softmax or sigmoid, limited to groups.

Sources, named in the comments below:
  page         op-plugin, docs/zh/custom_APIs/torch_npu, the page
               "torch_npu-npu_moe_gating_top_k.md"
  C++          op-plugin, op_plugin/ops/opapi/MoeGatingTopKKernelNpuOpApi.cpp
  derivatives  op-plugin, op_plugin/config/derivatives.yaml
  test         op-plugin, test/test_custom_ops/test_npu_moe_gating_topk.py
"""
import torch

operator = "npu_moe_gating_top_k"
schema = (
    "npu_moe_gating_top_k(Tensor x, int k, *, Tensor? bias=None, "
    "Tensor? input_ids=None, Tensor? tid2eid=None, int k_group=1, "
    "int group_count=1, int group_select_mode=0, int renorm=0, int norm_type=0, "
    "bool out_flag=False, float routed_scaling_factor=1.0, float eps=1e-20) "
    "-> (Tensor, Tensor, Tensor)"
)
summary = "k experts of each token by softmax or sigmoid, chosen within groups"
source = "op-plugin docs: torch_npu-npu_moe_gating_top_k.md"

# derivatives: a formula for x, of the first output; bias has none. (Earlier
# versions have no derivative at all.)
autograd = "differentiable"
output_differentiability = (True, False, False)

products = ("Atlas A3", "Atlas A2")  # page
versions = "2.5.1, 2.7.1, 2.13.0, 2.14.0"


def limits(x, k, bias, input_ids, tid2eid, k_group, group_count,
           group_select_mode, renorm, norm_type, out_flag, routed_scaling_factor,
           eps):
    # C++ and page, parameter x.
    assert x.dtype in (torch.float16, torch.bfloat16, torch.float32), (
        "x is float16, bfloat16 or float32"
    )
    assert x.dim() == 2, "x has 2 axes"
    assert x.shape[1] <= 2048, "there are at most 2048 experts"
    # C++.
    if bias is not None:
        assert bias.dtype == x.dtype, "bias has x's dtype"
        assert bias.dim() == 1, "bias has 1 axis"
        assert bias.shape[0] == x.shape[1], "bias has a value for each expert"
    assert (input_ids is None) == (tid2eid is None), (
        "input_ids and tid2eid are given together"
    )
    if input_ids is not None:
        assert input_ids.dtype in (torch.int32, torch.int64), (
            "input_ids is int32 or int64"
        )
        assert input_ids.dim() == 1, "input_ids has 1 axis"
        assert input_ids.shape[0] == x.shape[0], "input_ids has a value for each token"
    if tid2eid is not None:
        assert tid2eid.dtype in (torch.int32, torch.int64), "tid2eid is int32 or int64"
        assert tid2eid.dim() == 2, "tid2eid has 2 axes"
        assert tid2eid.shape[1] == k, "tid2eid has k columns"
    # page, parameters k, k_group, group_count.
    assert k >= 1, "k is at least 1"
    assert k_group >= 1, "k_group is at least 1"
    assert k_group <= group_count, "k_group is at most group_count"
    assert x.shape[1] % group_count == 0, "group_count divides the number of experts"
    assert x.shape[1] > 2 * group_count, "a group has more than 2 experts"
    assert k * group_count <= k_group * x.shape[1], (
        "k is at most the number of experts in the chosen groups"
    )
    assert (x.shape[1] // group_count + 31) // 32 * 32 * group_count <= 2048, (
        "the groups, each rounded up to 32 experts, hold at most 2048"
    )
    # page, the other parameters.
    assert group_select_mode in (0, 1), "group_select_mode is 0 or 1"
    assert renorm == 0, "renorm is 0"
    assert norm_type in (0, 1), "norm_type is 0 (softmax) or 1 (sigmoid)"


def golden(x, k, bias=None, input_ids=None, tid2eid=None, k_group=1, group_count=1,
           group_select_mode=0, renorm=0, norm_type=0, out_flag=False,
           routed_scaling_factor=1.0, eps=1e-20):
    """Returns y (T, k) in x's dtype, the experts (int32) and the normalised
    scores (float32, x's shape; without out_flag they are not filled in).

    bias counts for the choice alone; sigmoid scores are divided by their sum,
    softmax scores are not (test).
    """
    wide = x.float()
    if norm_type == 1:
        scores = torch.sigmoid(wide)
    else:
        scores = torch.exp(wide - wide.amax(-1, keepdim=True))
        scores = scores / scores.sum(-1, keepdim=True)
    if input_ids is not None:
        index = tid2eid[input_ids.long()].long()
    else:
        rank = scores.detach() if bias is None else scores.detach() + bias.float()
        rank = in_groups(rank, k_group, group_count, group_select_mode)
        index = torch.argsort(rank, dim=-1, descending=True, stable=True)[:, :k]
    y = scores.gather(1, index)
    if norm_type == 1:
        y = y / (y.sum(-1, keepdim=True) + eps)
    y = (y * routed_scaling_factor).to(x.dtype)
    return y, index.to(torch.int32), scores if out_flag else torch.zeros_like(scores)


def in_groups(rank, k_group, group_count, mode):
    """-inf for the experts of groups that are not chosen."""
    if group_count == 1:
        return rank
    grouped = rank.view(rank.shape[0], group_count, -1)
    worth = grouped.topk(2).values.sum(-1) if mode == 1 else grouped.amax(-1)
    chosen = torch.argsort(worth, dim=-1, descending=True, stable=True)[:, :k_group]
    out = torch.ones_like(worth, dtype=torch.bool).scatter(1, chosen, False)
    return grouped.masked_fill(out.unsqueeze(-1), float("-inf")).flatten(1)
