"""RMSNorm over as many axes as its shape has, of which the operator takes one."""
import torch
from torch import nn

EXPECT = {"rms_norm": 1}


class TrailingNorm(nn.Module):
    def __init__(self, shape, eps=1e-6):
        super().__init__()
        self.axes = tuple(range(-len(shape), 0))
        self.weight = nn.Parameter(1 + 0.1 * torch.randn(shape))
        self.eps = eps

    def forward(self, x):
        mean = x.pow(2).mean(dim=self.axes, keepdim=True)
        return x * torch.rsqrt(mean + self.eps) * self.weight


class Both(nn.Module):
    def __init__(self):
        super().__init__()
        self.one = TrailingNorm((16,))
        self.two = TrailingNorm((3, 16))  # the guard leaves it alone

    def forward(self, x):
        return self.two(self.one(x))


def make():
    return Both()


def inputs(dtype):
    return [(torch.randn(2, 3, 16).to(dtype),)]
