"""npu_grouped_matmul: one matrix product for each group of rows.

Sources, named in the comments below:
  page    op-plugin, docs/zh/custom_APIs/torch_npu, the page
          "torch_npu-npu_grouped_matmul.md"
  meta    torch_npu 2.13.0, op_plugin/meta/_meta_registrations.py
"""
import torch

from npufuse import groups

operator = "npu_grouped_matmul"
schema = (
    "npu_grouped_matmul(Tensor[] x, Tensor[] weight, *, Tensor[]? bias=None, "
    "Tensor[]? scale=None, Tensor[]? offset=None, "
    "Tensor[]? antiquant_scale=None, Tensor[]? antiquant_offset=None, "
    "Tensor[]? per_token_scale=None, Tensor? group_list=None, "
    "Tensor[]? activation_input=None, Tensor[]? activation_quant_scale=None, "
    "Tensor[]? activation_quant_offset=None, int? split_item=0, "
    "int? group_type=None, int? group_list_type=0, int? act_type=0, "
    "int[]? tuning_config=None, int? output_dtype=None, int? x_dtype=None, "
    "int? weight_dtype=None, int? scale_dtype=None, "
    "int? per_token_scale_dtype=None) -> Tensor[]"
)
overloads = (
    "npu_grouped_matmul.List(Tensor[] x, Tensor[] weight, *, Tensor[]? bias=None, "
    "Tensor[]? scale=None, Tensor[]? offset=None, "
    "Tensor[]? antiquant_scale=None, Tensor[]? antiquant_offset=None, "
    "Tensor[]? per_token_scale=None, int[]? group_list=None, "
    "Tensor[]? activation_input=None, Tensor[]? activation_quant_scale=None, "
    "Tensor[]? activation_quant_offset=None, int? split_item=0, "
    "int? group_type=None, int? group_list_type=0, int? act_type=0, "
    "ScalarType? output_dtype=None) -> Tensor[]",
)
summary = "matrix products of groups of rows with a weight each, in one kernel"
source = "op-plugin docs: torch_npu-npu_grouped_matmul.md"

# No derivative and no fallback is registered: gradients are dropped, with a
# warning. Training needs a torch.autograd.Function around it.
autograd = "silent"
output_differentiability = (True,)

# page, table of products. The last takes float16 and a Tensor group_list only.
products = (
    "Atlas A3",
    "Atlas A2",
    "Atlas inference series (float16, Tensor group_list)",
)
versions = "2.5.1, 2.7.1, 2.13.0, 2.14.0"

roles = ("group_list: group_list", "group_list_type: group_list_type")


def limits(x, weight, bias, scale, offset, antiquant_scale, antiquant_offset,
           per_token_scale, group_list, activation_input, activation_quant_scale,
           activation_quant_offset, split_item, group_type, group_list_type,
           act_type, tuning_config, output_dtype, x_dtype, weight_dtype,
           scale_dtype, per_token_scale_dtype):
    # meta, and page: lists of 1 to 128.
    assert len(x) >= 1, "x has at least 1 tensor"
    assert len(x) <= 128, "x has at most 128 tensors"
    assert len(weight) >= 1, "weight has at least 1 tensor"
    assert len(weight) <= 128, "weight has at most 128 tensors"
    # page, parameter x (int32: eight int4 values).
    assert x[0].dtype in (
        torch.float16, torch.bfloat16, torch.float32, torch.int8, torch.int32
    ), "x is float16, bfloat16, float32, int8 or int4"
    assert weight[0].dtype in (x[0].dtype, torch.int8, torch.int32), (
        "weight has x's dtype, or is int8 or int4"
    )
    # page, parameters x and weight: axes.
    assert x[0].dim() >= 2, "x has at least 2 axes"
    assert x[0].dim() <= 6, "x has at most 6 axes"
    assert split_item in (None, 0) or x[0].dim() == 2, (
        "x has 2 axes unless split_item is 0"
    )
    assert weight[0].dim() in (2, 3), "weight has 2 or 3 axes"
    # meta: weight is K x N, the transpose of nn.Linear.weight.
    assert group_type == 2 or weight[0].dtype == torch.int32 or (
        x[0].shape[-1] == weight[0].shape[-2]
    ), "weight's last axis but one is x's last (K x N, not N x K)"
    # page, constraints: InnerLimit.
    assert x[0].shape[-1] < 65536, "x's last axis is less than 65536"
    assert weight[0].shape[-1] < 65536 or weight[0].stride(-1) != 1, (
        "weight's last axis is less than 65536"
    )
    # page, table 1 and 2: bias of bfloat16 is float32.
    if bias is not None:
        assert len(bias) == len(weight), "there is a bias for each weight"
        assert x[0].dtype != torch.bfloat16 or bias[0].dtype == torch.float32, (
            "bias of a bfloat16 x is float32"
        )
        assert x[0].dtype not in (torch.float16, torch.float32) or (
            bias[0].dtype == x[0].dtype
        ), "bias has the dtype of x"
    # page: reserved.
    assert offset is None, "offset is not supported"
    assert activation_input is None, "activation_input is not supported"
    assert activation_quant_scale is None, "activation_quant_scale is not supported"
    assert activation_quant_offset is None, "activation_quant_offset is not supported"
    assert split_item in (None, 0, 1, 2, 3), "split_item is 0, 1, 2 or 3"
    # meta: no default with a Tensor or without a list; page: none with List[int].
    assert isinstance(group_list, list) or group_type in (-1, 0, 2), (
        "group_type is -1, 0 or 2 unless group_list is a List[int]"
    )
    assert not isinstance(group_list, list) or group_type is None, (
        "a List[int] group_list takes no group_type"
    )
    assert not isinstance(group_list, list) or len(group_list) != 1, (
        "a List[int] group_list has more than one value"
    )
    assert not isinstance(group_list, torch.Tensor) or group_list.dtype == torch.int64, (
        "group_list is int64"
    )
    assert not isinstance(group_list, torch.Tensor) or group_list_type == 2 or (
        group_list.dim() == 1
    ), "group_list has 1 axis unless its type is 2"
    # page, table by group_type.
    assert group_type != -1 or group_list is None, "group_type -1 takes no group_list"
    assert group_type != -1 or split_item in (None, 0, 1), (
        "group_type -1 needs split_item 0 or 1"
    )
    assert group_type != 0 or split_item in (2, 3), (
        "group_type 0 needs split_item 2 or 3"
    )
    assert group_type != 0 or len(x) > 1 or group_list is not None, (
        "group_type 0 with one x needs group_list"
    )
    # page, parameter group_list_type.
    assert group_list_type in (None, 0, 1, 2), "group_list_type is 0, 1 or 2"
    assert group_list_type != 2 or x[0].dtype == torch.int8, (
        "group_list_type 2 is for int8"
    )
    # page, parameter act_type and its note: with per-token quantisation alone.
    assert act_type in (None, 0, 1, 2, 4, 5), "act_type is 0, 1, 2, 4 or 5"
    assert act_type in (None, 0) or per_token_scale is not None, (
        "act_type needs per_token_scale"
    )
    # page, table 2: float32 for single tensors.
    assert x[0].dtype != torch.float32 or not isinstance(group_list, torch.Tensor) or (
        len(x) == 1 and len(weight) == 1
    ), "float32 with a Tensor group_list needs one x and one weight"


def golden(x, weight, bias=None, scale=None, offset=None, antiquant_scale=None,
           antiquant_offset=None, per_token_scale=None, group_list=None,
           activation_input=None, activation_quant_scale=None,
           activation_quant_offset=None, split_item=0, group_type=None,
           group_list_type=0, act_type=0, tuning_config=None, output_dtype=None,
           x_dtype=None, weight_dtype=None, scale_dtype=None,
           per_token_scale_dtype=None):
    """Returns a list: one result for each weight (split_item 0, 1), or one in
    all: (rows, N), or (groups, M, N) of group_type 2.

    Products are summed in float32 (int8: exactly) with one cast at the end.
    Rows of no group are zero here; the device leaves them as they were.
    """
    assert antiquant_scale is None and weight[0].dtype in (x[0].dtype, torch.int8), (
        "npu_grouped_matmul: weights of fewer bits are not emulated"
    )
    assert x_dtype is None and weight_dtype is None, (
        "npu_grouped_matmul: x_dtype and weight_dtype are not emulated"
    )
    dtype = groups.dtype_of(output_dtype, x[0].dtype)
    kind = group_list_type or 0
    if group_type == 2:
        return split_k(x, weight, group_list, kind, split_item, dtype)
    weights, biases, scales = (each(w, weight) for w in (weight, bias, scale))
    tokens = None if per_token_scale is None else torch.cat(list(per_token_scale))
    results = []
    for group, start, left in pieces(x, group_list, kind, len(weights)):
        given = None if tokens is None else tokens[start : start + len(left)]
        y = product(left, weights[group], biases[group], scales[group], given)
        results.append(narrow(groups.activate(y, act_type), dtype))
    if split_item in (None, 0, 1):
        return results
    rest = sum(t.shape[0] for t in x) - sum(y.shape[0] for y in results)
    width = weight[0].shape[-1]
    return [torch.cat(results + [x[0].new_zeros(rest, width, dtype=dtype)])]


def each(tensors, weight):
    """One entry for each group: a stack of three axes is taken apart."""
    stacked = len(weight) == 1 and weight[0].dim() == 3
    count = weight[0].shape[0] if stacked else len(weight)
    if tensors is None:
        return [None] * count
    return list(tensors[0].unbind(0)) if stacked else list(tensors)


def pieces(x, group_list, kind, count):
    """(group, first row, rows of x) for each group."""
    if len(x) > 1 or group_list is None:
        starts = [0]
        for t in x:
            starts.append(starts[-1] + t.shape[0])
        return list(zip(range(count), starts, x))
    spans = groups.group_spans(group_list, kind, count)
    return [(group, a, x[0][a:b]) for group, a, b in spans]


def split_k(x, weight, group_list, kind, split_item, dtype):
    """x (M, K), weight (K, N): a product for each part of K (meta)."""
    assert len(x) == 1 and len(weight) == 1 and weight[0].dim() == 2, (
        "npu_grouped_matmul: group_type 2 is emulated for single tensors"
    )
    spans = groups.group_spans(group_list, kind, len(group_list))
    results = [product(x[0][:, a:b], weight[0][a:b]).to(dtype) for _, a, b in spans]
    return results if split_item in (None, 0, 1) else [torch.stack(results)]


def product(left, right, bias=None, scale=None, tokens=None):
    """page, formulas 1 to 3: an int32 bias is scaled, another is not."""
    whole = left.dtype == torch.int8
    y = left.double() @ right.double() if whole else left.float() @ right.float()
    if bias is not None and bias.dtype == torch.int32:
        y, bias = y + bias, None
    if scale is not None:
        assert scale.dtype != torch.int64, (
            "npu_grouped_matmul: packed scales (int64) are not emulated"
        )
        y = y.float() * scale.float()
    if tokens is not None:
        y = y * tokens.unsqueeze(-1)
    return y if bias is None else y + bias.float()


def narrow(y, dtype):
    if dtype == torch.int8:
        y = y.round().clamp(-128, 127)
    return y.to(dtype)
