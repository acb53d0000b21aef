"""The axis is a parameter whose default is the last one."""
import torch
from torch import nn
from torch.nn import functional as F


class Norm(nn.Module):
    def __init__(self, size, dim=-1, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.eps = eps
        self.dim = dim

    def forward(self, x):
        dtype = x.dtype
        x = x.float()
        mean = torch.mean(x * x, dim=self.dim, keepdim=True)
        x = x * torch.rsqrt(mean + self.eps)
        return (self.weight * x).to(dtype=dtype)  # expect: rms_norm recommend


def norm(x, weight, eps=1e-6, dim=-1):
    return x * torch.rsqrt(x.pow(2).mean(dim, keepdim=True) + eps) * weight  # expect: rms_norm recommend


class Gate(nn.Module):
    def __init__(self, dim=-1):
        super().__init__()
        self.dim = dim

    def forward(self, x):
        a, b = x.chunk(2, dim=self.dim)
        return F.silu(a) * b  # allow: swiglu recommend|caution
