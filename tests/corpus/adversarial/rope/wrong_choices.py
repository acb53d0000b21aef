"""Choices whose arms do not fit together."""
import torch


def crossed(x, cos, sin, neox: bool):
    if neox:
        a, b = x.chunk(2, dim=-1)
    else:
        a, b = x[..., ::2], x[..., 1::2]
    first = a * cos - b * sin
    second = b * cos + a * sin
    if neox:
        return torch.stack((first, second), dim=-1).flatten(-2)  # clean: halves in, pairs out
    return torch.cat((first, second), dim=-1)  # allow: rope caution


def half_chosen(x, cos, sin, flag: bool, other: bool):
    a, b = x.chunk(2, dim=-1)
    first = b if flag else -b
    second = a if flag else -a
    return x * cos + torch.cat((first, second), dim=-1) * sin  # clean: never turned, whatever the flag


def two_flags(x, cos, sin, flag: bool, other: bool):
    a, b = x.chunk(2, dim=-1)
    first = a if flag else -b
    second = b if other else a
    return x * cos + torch.cat((first, second), dim=-1) * sin  # allow: rope recommend|caution
