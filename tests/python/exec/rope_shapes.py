"""Pairs by sums of shapes, halves whose axis is counted from the front."""
import torch
from torch import nn

EXPECT = {"rope": 2}  # findings with a replacement, by family


class Both(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.rand(8))

    def forward(self, x, cos, sin):
        x = x * self.scale
        assert x.ndim == 4
        half = x.shape[3] // 2
        first, second = x[..., :half], x[..., half:]
        y = torch.cat([first * cos + second * sin, first * (-sin) + second * cos], 3)
        a, b = y.reshape(y.shape[:-1] + (-1, 2)).unbind(-1)
        turned = torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1)
        return turned.flatten(-2)


def make():
    return Both()


def inputs(dtype):
    angles = torch.rand(1, 1, 6, 4)
    return [
        (torch.randn(2, 3, 6, 8).to(dtype), angles.cos().to(dtype), angles.sin().to(dtype)),
        (torch.randn(2, 3, 6, 8).to(dtype), angles.cos(), angles.sin()),
    ]
