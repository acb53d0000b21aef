"""npu_moe_re_routing: tokens by rank and expert, put in the experts' order.

Sources, named in the comments below:
  page  op-plugin, docs/zh/custom_APIs/torch_npu, the page
        "torch_npu-npu_moe_re_routing.md"
  meta  torch_npu 2.13.0, op_plugin/meta/_meta_registrations.py
"""
import torch

operator = "npu_moe_re_routing"
schema = (
    "npu_moe_re_routing(Tensor tokens, Tensor expert_token_num_per_rank, *, "
    "Tensor? per_token_scales=None, int expert_token_num_type=1, int idx_type=0, "
    "int? tokens_dtype=None) -> (Tensor, Tensor, Tensor, Tensor)"
)
summary = "puts tokens received from all ranks in the order of their experts"
source = "op-plugin docs: torch_npu-npu_moe_re_routing.md"

# No derivative and no fallback is registered: gradients are dropped.
autograd = "silent"
output_differentiability = (True, False, False, False)

products = ("Atlas A3", "Atlas A2")  # page
versions = "2.5.1, 2.7.1, 2.13.0, 2.14.0"


def limits(tokens, expert_token_num_per_rank, per_token_scales,
           expert_token_num_type, idx_type, tokens_dtype):
    # page, parameter tokens.
    assert tokens.dtype in (torch.float16, torch.bfloat16, torch.int8), (
        "tokens is float16, bfloat16 or int8"
    )
    assert tokens.dim() == 2, "tokens has 2 axes"
    assert tokens.shape[1] < 16384, "tokens' rows are shorter than 16384"
    # page, parameter expert_token_num_per_rank.
    assert expert_token_num_per_rank.dtype in (torch.int32, torch.int64), (
        "expert_token_num_per_rank is int32 or int64"
    )
    assert expert_token_num_per_rank.dim() == 2, (
        "expert_token_num_per_rank has 2 axes"
    )
    # page, parameter per_token_scales.
    if per_token_scales is not None:
        assert per_token_scales.dtype == torch.float32, "per_token_scales is float32"
        assert per_token_scales.dim() == 1, "per_token_scales has 1 axis"
        assert per_token_scales.shape[0] == tokens.shape[0], (
            "per_token_scales has a value for each token"
        )
    # page: the only values there are.
    assert expert_token_num_type == 1, "expert_token_num_type is 1"
    assert idx_type == 0, "idx_type is 0"


def golden(tokens, expert_token_num_per_rank, per_token_scales=None,
           expert_token_num_type=1, idx_type=0, tokens_dtype=None):
    """Returns the tokens, their scales (float32), where each stood before
    (int32), and the number of tokens of each expert.
    """
    assert tokens_dtype is None, "npu_moe_re_routing: tokens_dtype is not emulated"
    ranks, experts = expert_token_num_per_rank.shape
    counts = expert_token_num_per_rank.long().flatten()
    expert = torch.arange(experts, device=tokens.device).repeat(ranks)
    order = torch.argsort(expert.repeat_interleave(counts), stable=True)
    if per_token_scales is None:
        scales = torch.zeros(tokens.shape[0], device=tokens.device)
    else:
        scales = per_token_scales[order]
    return (
        tokens[order], scales, order.to(torch.int32),
        expert_token_num_per_rank.sum(0).to(expert_token_num_per_rank.dtype),
    )
