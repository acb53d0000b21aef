"""Halves with tables of half the width, in a helper."""
import torch

EXPECT = {"rope": 1}


def rotated(x, cos, sin):
    first, second = torch.chunk(x, 2, dim=-1)
    first_ = first * cos - second * sin
    second_ = second * cos + first * sin
    return torch.cat((first_, second_), dim=-1)


def make():
    return rotated


def inputs(dtype):
    angles = torch.randn(1, 1, 5, 16)
    x = torch.randn(2, 3, 5, 32).to(dtype)
    return [(x, angles.cos(), angles.sin()), (x, angles.cos().to(dtype), angles.sin().to(dtype))]
