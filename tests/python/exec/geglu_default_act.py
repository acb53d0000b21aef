"""The activation is a default; a caller may pass the other kind of GELU."""
import torch
from torch import nn

EXPECT = {"geglu": 1}


class Gated(nn.Module):
    def __init__(self, size, act=None):
        super().__init__()
        self.up, self.gate = nn.Linear(size, size), nn.Linear(size, size)
        self.act = nn.GELU() if act is None else act

    def forward(self, x):
        return self.act(self.gate(x)) * self.up(x)


def make():
    return Gated(16)


def others():
    """An activation of the same class, and another function."""
    made = Gated(16)
    setattr(made, "act", nn.GELU(approximate="tanh"))
    return [made]


def inputs(dtype):
    return [(torch.randn(2, 3, 16).to(dtype),)]
