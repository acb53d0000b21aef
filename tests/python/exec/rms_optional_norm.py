"""The norm comes first, a weight may follow."""
import torch
from torch import nn

EXPECT = {"rms_norm": 1}


class Norm(nn.Module):
    def __init__(self, dim, affine):
        super().__init__()
        self.eps = 1e-6
        self.weight = nn.Parameter(torch.linspace(0.5, 1.5, dim)) if affine else None

    def forward(self, x):
        h = x.float()
        h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + self.eps)
        h = h.type_as(x)
        if self.weight is not None:
            h = h * self.weight
        return h


def make():
    return Norm(16, True)


def inputs(dtype):
    return [(torch.randn(2, 3, 16).to(dtype),)]
