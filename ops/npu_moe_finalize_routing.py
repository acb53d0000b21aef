"""npu_moe_finalize_routing: experts' rows back at their tokens, for inference.

Sources, named in the comments below:
  page  op-plugin, docs/zh/custom_APIs/torch_npu, the page
        "torch_npu-npu_moe_finalize_routing.md"
  meta  torch_npu 2.13.0, op_plugin/meta/_meta_registrations.py
The page calls the seventh parameter expert_for_source_row and has no k.
"""
import torch

operator = "npu_moe_finalize_routing"
schema = (
    "npu_moe_finalize_routing(Tensor expanded_permuted_rows, Tensor? skip1, "
    "Tensor? skip2, Tensor? bias, Tensor? scales, "
    "Tensor expanded_src_to_dst_row, Tensor? export_for_source_row, "
    "int? drop_pad_mode=0, int? k=1) -> Tensor"
)
summary = "sums the experts' rows of each token, weighted, with biases and skips"
source = "op-plugin docs: torch_npu-npu_moe_finalize_routing.md"

# No derivative and no fallback is registered: gradients are dropped.
autograd = "silent"
output_differentiability = (True,)

products = ("Atlas A2",)  # page
versions = "2.5.1, 2.7.1, 2.13.0, 2.14.0"


def limits(expanded_permuted_rows, skip1, skip2, bias, scales,
           expanded_src_to_dst_row, export_for_source_row, drop_pad_mode, k):
    # page, parameter drop_pad_mode.
    assert drop_pad_mode in (None, 0, 1, 2, 3), "drop_pad_mode is 0 to 3"
    # page, parameter expanded_permuted_rows.
    assert expanded_permuted_rows.dtype in (
        torch.float16, torch.bfloat16, torch.float32
    ), "expanded_permuted_rows is float16, bfloat16 or float32"
    assert drop_pad_mode in (1, 3) or expanded_permuted_rows.dim() == 2, (
        "expanded_permuted_rows has 2 axes"
    )
    assert drop_pad_mode not in (1, 3) or expanded_permuted_rows.dim() == 3, (
        "expanded_permuted_rows has 3 axes with drop_pad_mode 1 or 3"
    )
    # page, parameters skip1 and skip2.
    assert skip1 is not None or skip2 is None, "skip2 needs skip1"
    if skip1 is not None:
        assert skip1.dtype == expanded_permuted_rows.dtype, "skip1 has the rows' dtype"
        assert skip1.dim() == 2, "skip1 has 2 axes"
    if skip2 is not None:
        assert skip2.dtype == expanded_permuted_rows.dtype, "skip2 has the rows' dtype"
        assert skip2.dim() == 2, "skip2 has 2 axes"
    # page, parameters bias and scales.
    if bias is not None:
        assert bias.dtype == expanded_permuted_rows.dtype, "bias has the rows' dtype"
        assert bias.dim() == 2, "bias has 2 axes"
        assert export_for_source_row is not None, "bias needs export_for_source_row"
    if scales is not None:
        assert scales.dtype == expanded_permuted_rows.dtype, (
            "scales has the rows' dtype"
        )
        assert scales.dim() == 2, "scales has 2 axes"
    # page, the indices.
    assert expanded_src_to_dst_row.dtype == torch.int32, (
        "expanded_src_to_dst_row is int32"
    )
    assert expanded_src_to_dst_row.dim() == 1, "expanded_src_to_dst_row has 1 axis"
    if export_for_source_row is not None:
        assert export_for_source_row.dtype == torch.int32, (
            "export_for_source_row is int32"
        )
        assert export_for_source_row.dim() == 2, "export_for_source_row has 2 axes"


def golden(expanded_permuted_rows, skip1, skip2, bias, scales,
           expanded_src_to_dst_row, export_for_source_row, drop_pad_mode=0, k=1):
    """Returns (tokens, hidden) in the rows' dtype.

    The index of choice k of token i stands at k * tokens + i in modes 0 and
    1, at i * K + k in 2 and 3; -1 is a row of zeros (page). The sum is taken
    in float32.
    """
    topk = scales.shape[1] if scales is not None else k or 1
    rows = expanded_permuted_rows.float().flatten(0, -2)
    index = expanded_src_to_dst_row.long()
    if drop_pad_mode in (2, 3):
        index = index.view(-1, topk)
    else:
        index = index.view(topk, -1).t()
    y = rows[index.clamp(min=0)].masked_fill((index < 0).unsqueeze(-1), 0.0)
    if bias is not None:
        y = y + bias.float()[export_for_source_row.long()]
    if scales is not None:
        y = y * scales.float().unsqueeze(-1)
    y = y.sum(1)
    for skip in (skip1, skip2):
        if skip is not None:
            y = y + skip.float()
    return y.to(expanded_permuted_rows.dtype)
