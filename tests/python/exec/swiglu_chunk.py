"""One packed projection, halves by chunk; the gate comes first."""
import torch
from torch import nn
import torch.nn.functional as F

EXPECT = {"swiglu": 1}


class MLP(nn.Module):
    def __init__(self, size, inner):
        super().__init__()
        self.gate_up_proj = nn.Linear(size, 2 * inner, bias=False)
        self.down_proj = nn.Linear(inner, size, bias=False)

    def forward(self, x):
        gate, up = self.gate_up_proj(x).chunk(2, dim=-1)
        return self.down_proj(up * F.silu(gate))


def make():
    return MLP(16, 24)


def inputs(dtype):
    return [(torch.randn(2, 3, 16).to(dtype),)]


def excluded(dtype):
    return [(torch.randn(0, 16).to(dtype),)]
