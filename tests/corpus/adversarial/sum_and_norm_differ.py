"""Sums before a norm that are none of the operator's, and 1 + weight that is not."""
import torch
from torch import nn


class Modulated(nn.Module):
    """1 + scale of another layer: no weight of the last axis."""

    def __init__(self, dim):
        super().__init__()
        self.ada = nn.Linear(dim, dim)

    def forward(self, x, condition):
        scale = self.ada(condition)[:, None]
        h = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)  # expect: rms_norm recommend
        return h * (1 + scale)  # clean: a computed scale


class Centred(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        x = x - x.mean(-1, keepdim=True)
        h = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
        return h * self.weight  # clean: a layer norm by hand


class Behind(nn.Module):
    """The sum is behind the norm."""

    def __init__(self, dim):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x, residual):
        h = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight  # expect: rms_norm recommend
        return h + residual  # clean: the norm's input is no sum


class OfOne(nn.Module):
    """The mean is that of one of the two."""

    def __init__(self, dim):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x, residual):
        total = x + residual
        scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
        return total * scale * self.weight  # clean: another tensor is measured


class Shifted(nn.Module):
    """A number is added, not a tensor."""

    def __init__(self, dim):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        h = x + 1.0
        return h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight  # expect: rms_norm recommend


class TwoPlus(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(dim))

    def forward(self, x):
        h = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)  # expect: rms_norm recommend
        return h * (2 + self.weight)  # clean: two, not one
