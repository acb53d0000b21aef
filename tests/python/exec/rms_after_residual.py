"""The normalised tensor is made in the same function and used again."""
import torch
from torch import nn

EXPECT = {"rms_norm": 1}


class Block(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(size) + 0.5)
        self.proj = nn.Linear(size, size)

    def forward(self, x, residual):
        x = x + residual
        residual = x
        # normalise, then project
        h = x.float()
        var = h.pow(2).mean(-1, keepdim=True)
        h = (h * torch.rsqrt(var + 1e-6)).to(x.dtype) * self.weight
        return self.proj(h), residual


def make():
    return Block(16)


def inputs(dtype):
    return [(torch.randn(2, 3, 16).to(dtype), torch.randn(2, 3, 16).to(dtype))]
