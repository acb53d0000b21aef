"""What an attribute gives back when it is called: an argument, a function, a method."""
import torch
import torch.nn.functional as F
from torch import nn


def scaled_by(x):
    def inner(y):
        z = x.float()
        return F.silu(z) * y  # allow: swiglu recommend|caution

    return inner


class Maker(nn.Module):
    def __init__(self, make=scaled_by):
        super().__init__()
        self.make = make

    def forward(self, x, y):
        scale = self.make(x)
        return scale(y)  # allow: swiglu recommend|caution


class Passing(nn.Module):
    def __init__(self, drop=nn.Identity(), act=None):
        super().__init__()
        self.drop = drop
        self.act = act

    def forward(self, x, act=F.silu, up=None):
        chosen = self.drop(act)
        gate, up = x.chunk(2, dim=-1)
        return chosen(gate) * up  # expect: swiglu recommend|caution


class Handing(nn.Module):
    def __init__(self, width, give=lambda module: module.gate):
        super().__init__()
        self.give = give
        self.weight = nn.Parameter(torch.ones(width))

    def gate(self, x):
        return F.silu(x)

    def forward(self, x):
        gate, up = x.chunk(2, dim=-1)
        return self.give(self)(gate) * up  # expect: swiglu recommend|caution
