"""Axes and shapes that do not fit together."""
import torch


def two_numbers(x, cos, sin):
    a, b = x.chunk(2, dim=2)
    return x * cos + torch.cat((-b, a), dim=3) * sin  # clean: cut along one axis, joined along another


def counts_differ(x, cos, sin, width: int):
    turned = torch.cat([-x[:, :, width:], x[:, :, :, :width]], dim=-1)
    return x * cos + turned * sin  # clean: the cuts are of two axes


def first_axis(x, cos, sin):
    a, b = x.chunk(2, dim=0)
    return torch.cat((a * cos - b * sin, b * cos + a * sin), dim=0)  # clean: the batch is cut


def other_shape(x, y, cos, sin):
    a, b = x.reshape(y.shape[:-1] + (-1, 2)).unbind(-1)
    out = torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1)  # allow: rope caution
    return out.flatten(-2)


def threes(x, cos, sin):
    a, b, _ = x.reshape(x.shape[:-1] + (-1, 3)).unbind(-1)
    return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)  # clean: two of three


def selected_twice(x, cos, sin):
    pairs = x.reshape(*x.shape[:-1], -1, 2)
    a, b = pairs.select(-1, 1), pairs.select(-1, 1)
    return torch.stack((a * cos - b * sin, a * sin + b * cos), dim=-1).flatten(-2)  # clean: one of the two only


def narrowed_over(x, cos, sin):
    half = x.shape[-1] // 2
    a, b = x.narrow(-1, 0, half), x.narrow(-1, 1, half)
    return torch.cat((a * cos - b * sin, b * cos + a * sin), dim=-1)  # clean: the parts overlap


def sum_of_shapes(x, cos, sin):
    a, b = x.reshape((2, -1) + x.shape[1:]).unbind(0)
    return torch.cat((a * cos - b * sin, b * cos + a * sin), dim=0)  # clean: another axis
