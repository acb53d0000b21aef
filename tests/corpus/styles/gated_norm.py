"""Norm and gate, in both orders (Mamba 2)."""
import torch
import torch.nn.functional as F
from torch import nn


class NormThenGate(nn.Module):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))
        self.eps = eps

    def forward(self, x, z):
        h = x.float()
        h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + self.eps)
        h = self.weight * h.to(x.dtype)  # expect: rms_norm recommend|caution
        return h * F.silu(z)  # allow: swiglu recommend|caution


class GateThenNorm(nn.Module):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))
        self.eps = eps

    def forward(self, x, z):
        h = x * F.silu(z)  # expect: swiglu recommend|caution
        return h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight  # expect: rms_norm recommend
