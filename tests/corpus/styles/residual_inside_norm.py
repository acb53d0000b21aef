"""A sum and its RMSNorm in one function: for inference only."""
import torch
from torch import nn


class Both(nn.Module):
    """The sum goes on."""

    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))
        self.eps = eps

    def forward(self, x, residual):
        dtype = x.dtype
        x = x + residual
        residual = x
        h = x.float()
        h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + self.eps)
        return self.weight * h.to(dtype), residual  # expect: rms_norm recommend  # expect: add_rms_norm caution


class Post(nn.Module):
    """The sum is normalised and not used again."""

    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))
        self.eps = eps

    def forward(self, x, residual):
        h = torch.add(residual, x).float()  # expect: add_rms_norm caution
        h = h * torch.rsqrt(h.square().mean(-1, keepdim=True) + self.eps)
        return (self.weight * h).type_as(x)  # expect: rms_norm recommend
