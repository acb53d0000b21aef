"""Two projections; the activation is called by name."""
from torch import nn
from torch.nn import functional as F
import torch

EXPECT = {"swiglu": 1}


class MLP(nn.Module):
    def __init__(self, size, inner):
        super().__init__()
        self.w1 = nn.Linear(size, inner)
        self.w2 = nn.Linear(inner, size)
        self.w3 = nn.Linear(size, inner)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


def make():
    return MLP(16, 24)


def inputs(dtype):
    return [(torch.randn(2, 3, 16).to(dtype),)]


def excluded(dtype):
    return [(torch.randn(0, 16).to(dtype),)]
