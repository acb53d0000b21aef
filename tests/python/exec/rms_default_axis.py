"""The axis is given by a default, and tested."""
import torch
from torch import nn

EXPECT = {"rms_norm": 1}


class Norm(nn.Module):
    def __init__(self, size, dim=-1, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(size) + 0.5)
        self.eps = eps
        self.dim = dim

    def forward(self, x):
        dtype = x.dtype
        x = x.float()
        mean = torch.mean(x * x, dim=self.dim, keepdim=True)
        x = x * torch.rsqrt(mean + self.eps)
        return (self.weight * x).to(dtype=dtype)


def make():
    return Norm(16)


def inputs(dtype):
    return [(torch.randn(2, 5, 16).to(dtype),), (torch.randn(3, 16).to(dtype),)]
