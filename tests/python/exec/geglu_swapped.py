"""The second half is the gate."""
import torch
from torch import nn
import torch.nn.functional as F

EXPECT = {"geglu": 1}


class GEGLU(nn.Module):
    def __init__(self, size, inner):
        super().__init__()
        self.proj = nn.Linear(size, 2 * inner)

    def forward(self, x):
        x, gate = self.proj(x).chunk(2, dim=-1)
        return x * F.gelu(gate)


def make():
    return GEGLU(16, 24)


def inputs(dtype):
    return [(torch.randn(2, 3, 16).to(dtype),)]
