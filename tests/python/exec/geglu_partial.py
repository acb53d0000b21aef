"""GEGLU whose activation is a partial function by default."""
from functools import partial

import torch
import torch.nn.functional as F
from torch import nn

EXPECT = {"geglu": 1}

TANH = partial(F.gelu, approximate="tanh")


class Gated(nn.Module):
    def __init__(self, act=TANH):
        super().__init__()
        self.gate = nn.Linear(16, 24)
        self.up = nn.Linear(16, 24)
        self.down = nn.Linear(24, 16)
        self.act = act

    def forward(self, x):
        return self.down(self.act(self.gate(x)) * self.up(x))


class Several(nn.Module):
    """The guard takes the first alone."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([
            Gated(), Gated(partial(F.relu)), Gated(partial(F.gelu)), Gated(torch.tanh),
        ])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def make():
    return Several()


def inputs(dtype):
    return [(torch.randn(2, 3, 16).to(dtype),)]
