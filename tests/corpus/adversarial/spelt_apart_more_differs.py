"""Class attributes that a subclass has otherwise, where the other way round, the same part changed."""
import torch
import torch.nn.functional as F
from torch import nn


class Base(nn.Module):
    activation = staticmethod(F.relu)

    def __init__(self, d, h):
        super().__init__()
        self.both = nn.Linear(d, 2 * h, bias=False)

    def forward(self, x):
        a, b = self.both(x).chunk(2, -1)
        return self.activation(a) * b  # clean: relu


def kept_and_dropped_alike(q, k, v, seen):
    scores = torch.matmul(q, k.mT) * 0.125
    scores = scores.where(seen, torch.full_like(scores, -1.0))
    return scores.softmax(-1) @ v  # clean: -1 takes nothing out


def own_part_changed(x, w):
    low, high = x.chunk(2, -1)
    scale = torch.rsqrt(low.pow(2).mean(-1, keepdim=True) + 1e-6)
    low.mul_(3)
    return low * scale * w  # clean: low changed


def whole_changed(x, w):
    low, high = x.chunk(2, -1)
    scale = torch.rsqrt(low.pow(2).mean(-1, keepdim=True) + 1e-6)
    x.mul_(3)
    return low * scale * w  # clean: low is a part of x


def same_part_again(x, w):
    low, high = x.chunk(2, -1)
    scale = torch.rsqrt(low.pow(2).mean(-1, keepdim=True) + 1e-6)
    x.chunk(2, -1)[0].mul_(3)
    return low * scale * w  # clean: the same part


def other_parts(x, w):
    low, high = x.chunk(2, -1)
    scale = torch.rsqrt(low.pow(2).mean(-1, keepdim=True) + 1e-6)
    x.chunk(4, -1)[1].mul_(3)
    return low * scale * w  # clean: a quarter of it is in the first half
