"""Groups of rows and numbered dtypes, as operators of torch_npu pass them.

What ``ops/npu_grouped_matmul*.py`` and the mixture-of-experts operators share.
"""
import torch

# An `int?` that means a dtype: the number that torch's C++ gives it. A
# torch.dtype is taken as well, as PyTorch does for a schema's int.
NUMBERED = {
    0: torch.uint8, 1: torch.int8, 2: torch.int16, 3: torch.int32, 4: torch.int64,
    5: torch.float16, 6: torch.float32, 7: torch.float64, 11: torch.bool,
    15: torch.bfloat16,
}


def dtype_of(value, default):
    """The dtype that `value` (None, a number, a dtype) means."""
    if value is None:
        return default
    if isinstance(value, torch.dtype):
        return value
    if value not in NUMBERED:
        raise RuntimeError("the dtype with number %s is not emulated" % value)
    return NUMBERED[value]


def group_spans(group_list, kind, count):
    """(group, start, end) of each group along the axis that is split.

    `group_list`: List[int] or 1-D Tensor of cumulative sums (kind 0) or of
    sizes (1), or a Tensor (E, 2) of group and size (2). `count`: of groups.
    """
    values = group_list.tolist() if isinstance(group_list, torch.Tensor) else group_list
    if kind == 2:
        groups, sizes = [g for g, _ in values], [n for _, n in values]
    elif kind == 1:
        groups, sizes = range(len(values)), values
    else:
        groups = range(len(values))
        sizes = [b - a for a, b in zip([0] + list(values), values)]
    if min(sizes, default=0) < 0:
        raise RuntimeError("group_list of type %d has a group of negative size" % kind)
    spans, start = [], 0
    for group, size in zip(groups, sizes):
        if group >= count:
            raise RuntimeError("group_list has more groups than there are weights")
        spans.append((group, start, start + size))
        start += size
    return spans


def activate(y, kind):
    """act_type: 0 none, 1 relu, 2 gelu (tanh), 4 fast_gelu, 5 silu."""
    if kind in (None, 0):
        return y
    if kind == 1:
        return torch.relu(y)
    if kind == 2:
        inner = 0.7978845608028654 * (y + 0.044715 * y * y * y)
        return 0.5 * y * (1.0 + torch.tanh(inner))
    return y * torch.sigmoid(1.702 * y if kind == 4 else y)
