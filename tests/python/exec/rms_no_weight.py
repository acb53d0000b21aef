"""No weight at all."""
import torch
from torch import nn

EXPECT = {"rms_norm": 1}


class Norm(nn.Module):
    def __init__(self, eps):
        super().__init__()
        self.eps = eps

    def forward(self, x):
        y = x.float()
        y = y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + self.eps)
        return y.to(x.dtype)


def make():
    return Norm(1e-6)


def inputs(dtype):
    return [(torch.randn(2, 3, 16).to(dtype),)]
