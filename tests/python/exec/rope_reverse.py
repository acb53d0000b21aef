"""The angle is negative."""
import torch

EXPECT = {"rope": 2}


def turned(x):
    a, b = torch.split(x, x.shape[-1] // 2, dim=-1)
    return torch.cat((b, -a), dim=-1)


def forth_and_back(x, cos, sin):
    y = x * cos + turned(x) * sin
    return y, y * cos - turned(y) * sin


def make():
    return forth_and_back


def inputs(dtype):
    angles = torch.randn(1, 1, 5, 16).to(dtype)
    return [(torch.randn(2, 3, 5, 16).to(dtype), angles.cos(), angles.sin())]
