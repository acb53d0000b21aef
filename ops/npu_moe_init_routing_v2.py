"""npu_moe_init_routing_v2: tokens sorted by expert, with counts and scales.

Sources, named in the comments below:
  page  op-plugin, docs/zh/custom_APIs/torch_npu, the page
        "torch_npu-npu_moe_init_routing_v2.md"
  meta  torch_npu 2.13.0, op_plugin/meta/_meta_registrations.py
"""
import torch

operator = "npu_moe_init_routing_v2"
schema = (
    "npu_moe_init_routing_v2(Tensor x, Tensor expert_idx, *, Tensor? scale=None, "
    "Tensor? offset=None, int active_num=-1, int expert_capacity=-1, "
    "int expert_num=-1, int drop_pad_mode=0, int expert_tokens_num_type=0, "
    "bool expert_tokens_num_flag=False, int quant_mode=-1, "
    "int[2] active_expert_range=[], int row_idx_type=0, int? x_dtype=None) "
    "-> (Tensor, Tensor, Tensor, Tensor)"
)
summary = "sorts tokens by expert, counts them, and quantises them on demand"
source = "op-plugin docs: torch_npu-npu_moe_init_routing_v2.md"

# No derivative and no fallback is registered: gradients are dropped.
autograd = "silent"
output_differentiability = (True, False, False, False)

# page, table of products. The last sorts only: no bfloat16, no quantisation.
products = ("Atlas A3", "Atlas A2", "Atlas inference series (no quantisation)")
versions = "2.5.1, 2.7.1, 2.13.0, 2.14.0"


def limits(x, expert_idx, scale, offset, active_num, expert_capacity, expert_num,
           drop_pad_mode, expert_tokens_num_type, expert_tokens_num_flag,
           quant_mode, active_expert_range, row_idx_type, x_dtype):
    # page, parameter x.
    assert x.dtype in (torch.float16, torch.bfloat16, torch.float32, torch.int8), (
        "x is float16, bfloat16, float32 or int8"
    )
    assert x.dim() == 2, "x has 2 axes"
    # page, parameter expert_idx; meta.
    assert expert_idx.dtype == torch.int32, "expert_idx is int32"
    assert expert_idx.dim() == 2, "expert_idx has 2 axes"
    assert expert_idx.shape[0] == x.shape[0], "expert_idx has a row for each token"
    # page, the other parameters.
    assert active_num >= -1, "active_num is at least -1"
    assert expert_num <= 10240, "expert_num is at most 10240"
    assert expert_tokens_num_type != 2 or expert_num <= 5120, (
        "expert_num is at most 5120 with expert_tokens_num_type 2"
    )
    assert drop_pad_mode in (0, 1), "drop_pad_mode is 0 or 1"
    assert drop_pad_mode == 0 or expert_capacity > 0, (
        "drop_pad_mode 1 needs expert_capacity"
    )
    assert drop_pad_mode == 0 or expert_capacity <= x.shape[0], (
        "expert_capacity is at most the number of tokens"
    )
    assert expert_tokens_num_type in (0, 1, 2), "expert_tokens_num_type is 0, 1 or 2"
    # meta; modes above 1 are for other products than A2 and A3.
    assert quant_mode in (-1, 0, 1), "quant_mode is -1, 0 or 1"
    assert row_idx_type in (0, 1), "row_idx_type is 0 or 1"
    # meta, scale.
    if scale is not None:
        assert quant_mode != -1 or scale.dim() == 1, "scale has 1 axis"
        assert quant_mode != -1 or scale.shape[0] == x.shape[0], (
            "scale has a value for each token"
        )
        assert quant_mode != 1 or scale.dim() == 2, (
            "scale has 2 axes with quant_mode 1"
        )
    assert quant_mode != 0 or scale is not None, "quant_mode 0 needs scale"


def golden(x, expert_idx, scale=None, offset=None, active_num=-1,
           expert_capacity=-1, expert_num=-1, drop_pad_mode=0,
           expert_tokens_num_type=0, expert_tokens_num_flag=False, quant_mode=-1,
           active_expert_range=[], row_idx_type=0, x_dtype=None):
    """Returns the sorted copies, expanded_row_idx (int32, T * K), the experts'
    tokens (int64; empty without the flag) and the copies' scales (float32).

    Choices are numbered along the rows: t * K + k. row_idx_type 0: the place
    of each choice, -1 outside of the range; 1: the choice at each place. What
    the device leaves as it was is zero here (-1 in expanded_row_idx).
    """
    assert drop_pad_mode == 0, "npu_moe_init_routing_v2: drop_pad is not emulated"
    assert quant_mode == -1, "npu_moe_init_routing_v2: quant_mode is not emulated"
    topk = expert_idx.shape[1]
    total = expert_idx.numel()
    first, last = active_expert_range or (0, expert_num)
    experts = expert_idx.flatten().long()
    if not active_expert_range and expert_num < 0:
        last = int(experts.max()) + 1
    order = torch.argsort(experts, stable=True)
    inside = (experts[order] >= first) & (experts[order] < last)
    taken = order[inside]
    rows = total if active_num <= 0 else min(active_num, total)
    copies = x.new_zeros(rows, x.shape[1])
    copies[: len(taken)] = x[taken[:rows] // topk]
    scales = torch.zeros(rows, dtype=torch.float32, device=x.device)
    if scale is not None:
        scales[: len(taken)] = scale.float()[taken[:rows] // topk]
    index = torch.full((total,), -1, dtype=torch.int32, device=x.device)
    if row_idx_type == 1:
        index[: len(taken)] = taken.to(torch.int32)
    else:
        places = torch.arange(len(taken), device=x.device, dtype=torch.int32)
        index[taken] = places
    counted = torch.bincount(experts[taken] - first, minlength=last - first)
    if not expert_tokens_num_flag:
        counted = counted.new_empty(())
    elif expert_tokens_num_type == 0:
        counted = counted.cumsum(0)
    elif expert_tokens_num_type == 2:
        used = counted.nonzero().flatten()
        table = counted.new_zeros(expert_num, 2)
        table[: len(used)] = torch.stack([used + first, counted[used]], 1)
        counted = table
    return copies, index, counted, scales
