"""npu_grouped_matmul_finalize_routing: int8 products of groups, added up by token.

Sources, named in the comments below:
  page  op-plugin, docs/zh/custom_APIs/torch_npu, the page
        "torch_npu-npu_grouped_matmul_finalize_routing.md"
  meta  torch_npu 2.13.0, op_plugin/meta/_meta_registrations.py
"""
import torch

from npufuse import groups

operator = "npu_grouped_matmul_finalize_routing"
schema = (
    "npu_grouped_matmul_finalize_routing(Tensor x, Tensor w, "
    "Tensor group_list, *, Tensor? scale=None, Tensor? bias=None, "
    "Tensor? offset=None, Tensor? pertoken_scale=None, "
    "Tensor? shared_input=None, Tensor? logit=None, Tensor? row_index=None, "
    "ScalarType? dtype=None, float? shared_input_weight=1.0, "
    "int? shared_input_offset=0, int? output_bs=0, int? group_list_type=1, "
    "int[]? tuning_config=None, int? x_dtype=None, int? w_dtype=None, "
    "int? scale_dtype=None, int? pertoken_scale_dtype=None) -> Tensor"
)
summary = "grouped int8 products, weighted, added at the tokens' rows, beside a shared expert"
source = "op-plugin docs: torch_npu-npu_grouped_matmul_finalize_routing.md"

# No derivative and no fallback is registered: gradients are dropped.
autograd = "silent"
output_differentiability = (False,)

products = ("Atlas A3", "Atlas A2")  # page
versions = "2.5.1, 2.7.1, 2.13.0, 2.14.0"


def limits(x, w, group_list, scale, bias, offset, pertoken_scale, shared_input,
           logit, row_index, dtype, shared_input_weight, shared_input_offset,
           output_bs, group_list_type, tuning_config, x_dtype, w_dtype, scale_dtype,
           pertoken_scale_dtype):
    # page, parameters x and w (int32: eight int4 values).
    assert x.dtype == torch.int8, "x is int8"
    assert x.dim() == 2, "x has 2 axes"
    assert x.shape[0] <= 131072, "x has at most 131072 rows"
    assert x.is_contiguous(), "x is contiguous"
    assert w.dtype in (torch.int8, torch.int32), "w is int8 or int4"
    assert w.dim() in (3, 5), "w has 3 axes, or 5 in NZ format"
    assert w.shape[0] <= 256, "there are at most 256 experts"
    # page, parameter group_list.
    assert group_list.dtype == torch.int64, "group_list is int64"
    assert group_list.dim() == 1, "group_list has 1 axis"
    assert group_list.shape[0] == w.shape[0], "there is a group for each weight"
    assert group_list_type in (None, 0, 1), "group_list_type is 0 or 1"
    # page, the other parameters.
    if scale is not None:
        assert w.dtype != torch.int8 or scale.dtype == torch.float32, (
            "scale of an int8 w is float32"
        )
    assert bias is None or w.dtype != torch.int8, "bias is for an int4 w"
    assert offset is None or w.dtype != torch.int8, "offset is for an int4 w"
    if pertoken_scale is not None:
        assert pertoken_scale.dtype == torch.float32, "pertoken_scale is float32"
        assert pertoken_scale.shape[0] == x.shape[0], (
            "pertoken_scale has a value for each row"
        )
    if shared_input is not None:
        assert shared_input.dtype == torch.bfloat16, "shared_input is bfloat16"
        assert shared_input.dim() == 2, "shared_input has 2 axes"
    if logit is not None:
        assert logit.dtype == torch.float32, "logit is float32"
        assert logit.shape[0] == x.shape[0], "logit has a value for each row"
    if row_index is not None:
        assert row_index.dtype in (torch.int32, torch.int64), (
            "row_index is int32 or int64"
        )
        assert row_index.shape[0] == x.shape[0], "row_index has a value for each row"
    # meta.
    assert dtype in (None, 6, torch.float32), "dtype is float32"


def golden(x, w, group_list, scale=None, bias=None, offset=None,
           pertoken_scale=None, shared_input=None, logit=None, row_index=None,
           dtype=None, shared_input_weight=1.0, shared_input_offset=0, output_bs=0,
           group_list_type=1, tuning_config=None, x_dtype=None, w_dtype=None,
           scale_dtype=None, pertoken_scale_dtype=None):
    """Returns float32 (output_bs, N), or as many rows as x with output_bs 0.

    Row i of the products, dequantised and weighted by logit, is added at
    row_index[i]; shared_input, weighted, at shared_input_offset. Groups are
    counts by default (group_list_type 1).
    """
    assert w.dim() == 3 and w.dtype == torch.int8 and row_index is not None, (
        "npu_grouped_matmul_finalize_routing: emulated for int8, three axes, row_index"
    )
    kind = 1 if group_list_type is None else group_list_type
    width = w.shape[2]
    out = torch.zeros(output_bs or x.shape[0], width, device=x.device)
    if shared_input is not None:
        start = shared_input_offset or 0
        out[start : start + len(shared_input)] += shared_input.float() * shared_input_weight
    for group, a, b in groups.group_spans(group_list, kind, len(w)):
        y = (x[a:b].double() @ w[group].double()).float()
        if scale is not None:
            y = y * scale[group]
        for factor in (pertoken_scale, logit):
            if factor is not None:
                y = y * factor[a:b].unsqueeze(1)
        out.index_add_(0, row_index[a:b].long(), y)
    return out
