"""SwiGLU whose gate is a layer and its activation in one nn.Sequential."""
import torch
from torch import nn

EXPECT = {"swiglu": 1}


class Gated(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.gate = nn.Sequential(nn.Linear(d, h, bias=False), nn.SiLU())
        self.up = nn.Linear(d, h, bias=False)

    def forward(self, x):
        out = self.gate(x)
        return out * self.up(x)


def make():
    return Gated(8, 16)


def inputs(dtype):
    return [(torch.randn(2, 3, 8).to(dtype),), (torch.randn(5, 8).to(dtype),)]
