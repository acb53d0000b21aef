"""The activation is a submodule; bias on both projections."""
import torch
from torch import nn

EXPECT = {"swiglu": 1}


class MLP(nn.Module):
    def __init__(self, size, inner):
        super().__init__()
        self.gate_proj = nn.Linear(size, inner)
        self.up_proj = nn.Linear(size, inner)
        self.down_proj = nn.Linear(inner, size)
        self.act_fn = nn.SiLU()

    def forward(self, x):
        down_proj = self.down_proj(self.act_fn(self.gate_proj(x)) * self.up_proj(x))
        return down_proj


def make():
    return MLP(16, 24)


def inputs(dtype):
    return [(torch.randn(5, 16).to(dtype),)]
