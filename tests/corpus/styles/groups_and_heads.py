"""Norms per head, on views."""
import torch
from torch import nn


class HeadNorm(nn.Module):
    def __init__(self, head_dim, heads):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(head_dim))
        self.heads = heads

    def forward(self, x):
        b, s, _ = x.shape
        h = x.view(b, s, self.heads, -1)
        h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight  # expect: rms_norm recommend
        return h.transpose(1, 2)


class GroupNormRms(nn.Module):
    def __init__(self, dim, groups):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))
        self.groups = groups

    def forward(self, x):
        *lead, last = x.shape
        h = x.reshape(*lead, self.groups, last // self.groups).float()
        h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-6)  # expect: rms_norm recommend
        return self.weight * h.reshape(*lead, last).to(x.dtype)
