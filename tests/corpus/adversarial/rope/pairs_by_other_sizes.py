"""Views by sizes of another tensor, or of other axes."""
import torch


def of_another(x, y):
    first, second = x[..., 0::2], x[..., 1::2]
    x = torch.stack((-second, first), dim=-1)
    *shape, pairs, two = y.shape
    return x.view(*shape, pairs * two)


def other_axes(x):
    first, second = x[..., 0::2], x[..., 1::2]
    x = torch.stack((-second, first), dim=-1)
    *shape, rows, pairs, two = x.shape
    return x.view(*shape, rows * pairs, two)


def rotate(x, y, cos, sin):
    return x * cos + of_another(x, y) * sin  # clean: y's sizes


def rotate_axes(x, cos, sin):
    return x * cos + other_axes(x) * sin  # clean: pairs stay apart, rows are joined
