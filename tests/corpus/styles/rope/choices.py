"""Halves or pairs: which of the two a flag or a setting says."""
import torch
from torch import nn


def by_halves(x):
    a, b = x.chunk(2, dim=-1)
    return torch.cat((-b, a), dim=-1)


def by_pairs(x):
    a, b = x[..., ::2], x[..., 1::2]
    return torch.stack((-b, a), dim=-1).flatten(-2)


def turn(x, interleaved=False):
    if interleaved:
        return by_pairs(x)
    return by_halves(x)


def passed_on(x, cos, sin, interleaved=False):
    width = cos.shape[-1]
    head, tail = x[..., :width], x[..., width:]
    head = head * cos + turn(head, interleaved) * sin  # expect: rope recommend
    return torch.cat((head, tail), dim=-1)


class Rotary(nn.Module):
    def __init__(self, neox: bool):
        super().__init__()
        self.neox = neox

    def forward(self, x, cos, sin):
        turned = by_halves if self.neox else by_pairs
        return x * cos + turned(x) * sin  # expect: rope recommend

    def split(self, x, cos, sin):
        if self.neox:
            a, b = x.chunk(2, dim=-1)
        else:
            a, b = x[..., ::2], x[..., 1::2]
        first = a * cos - b * sin
        second = b * cos + a * sin
        if self.neox:
            return torch.cat((first, second), dim=-1)  # expect: rope caution
        return torch.stack((first, second), dim=-1).flatten(-2)  # expect: rope caution
