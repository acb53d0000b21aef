"""Pairs of neighbours, the tables doubled for them."""
import torch

EXPECT = {"rope": 1}


def rotate_every_two(x):
    x1 = x[:, :, :, ::2]
    x2 = x[:, :, :, 1::2]
    x = torch.stack((-x2, x1), dim=-1)
    return x.flatten(-2)


def apply(x, cos, sin):
    cos = torch.repeat_interleave(cos[:, :, None, :], 2, -1)
    sin = torch.repeat_interleave(sin[:, :, None, :], 2, -1)
    return (x * cos) + (rotate_every_two(x) * sin)


def make():
    return apply


def inputs(dtype):
    angles = torch.randn(1, 5, 8)
    x = torch.randn(2, 5, 3, 16).to(dtype)
    return [(x, angles.cos(), angles.sin()), (x, angles.cos().to(dtype), angles.sin().to(dtype))]
