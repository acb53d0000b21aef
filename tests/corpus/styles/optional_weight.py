"""The weight may be absent."""
import torch
from torch import nn


class Optional(nn.Module):
    def __init__(self, dim, eps=1e-6, elementwise_affine=True):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(dim)) if elementwise_affine else None

    def forward(self, x):
        h = x.float()
        h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + self.eps)  # expect: rms_norm recommend
        h = h.type_as(x)
        if self.weight is not None:
            h = h * self.weight
        return h


class Registered(nn.Module):
    def __init__(self, dim, eps=1e-6, bias=False):
        super().__init__()
        self.eps = eps
        self.register_parameter("weight", nn.Parameter(torch.ones(dim)))

    def forward(self, x):
        return self.weight * (x * (x.pow(2).mean(-1, keepdim=True) + self.eps).rsqrt())  # expect: rms_norm recommend
