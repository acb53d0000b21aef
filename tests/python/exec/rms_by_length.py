"""A unit vector times the root of its size."""
import torch
import torch.nn.functional as F
from torch import nn

EXPECT = {"rms_norm": 1}


class Norm(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.scale = dim ** 0.5
        self.g = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        return F.normalize(x.float(), dim=-1) * self.scale * self.g


def make():
    norm = Norm(16)
    norm.g.data = torch.linspace(0.5, 1.5, 16)
    return norm


def inputs(dtype):
    return [(torch.randn(2, 3, 16).to(dtype),)]
