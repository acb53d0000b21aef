"""A flag says whether halves or pairs are turned."""
import torch
from torch import nn

EXPECT = {"rope": 1}


def turned(x, interleaved=False):
    if interleaved:
        return torch.stack((-x[..., 1::2], x[..., ::2]), dim=-1).flatten(-2)
    a, b = x.chunk(2, dim=-1)
    return torch.cat((-b, a), dim=-1)


class Rotary(nn.Module):
    def forward(self, x, cos, sin, interleaved=False):
        return x * cos + turned(x, interleaved) * sin


def make():
    return Rotary()


def inputs(dtype):
    angles = torch.rand(2, 1, 6, 16).to(dtype)
    x = torch.randn(2, 3, 6, 16).to(dtype)
    return [(x, angles.cos(), angles.sin()), (x, angles.cos(), angles.sin(), False)]
