"""GELU by the error function on a gate of its own."""
import torch
from torch import nn
import torch.nn.functional as F

EXPECT = {"geglu": 1}


class MLP(nn.Module):
    def __init__(self, size, inner):
        super().__init__()
        self.wi_0 = nn.Linear(size, inner, bias=False)
        self.wi_1 = nn.Linear(size, inner, bias=False)

    def forward(self, x):
        return F.gelu(self.wi_0(x)) * self.wi_1(x)


def make():
    return MLP(16, 24)


def inputs(dtype):
    return [(torch.randn(2, 3, 16).to(dtype),)]
