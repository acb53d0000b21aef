"""Pairs by a view, joined from an axis that is counted from the front."""
import torch

EXPECT = {"rope": 1}


def rotated(x, cos, sin):
    pairs = x.float().reshape(*x.shape[:-1], -1, 2)
    out = torch.stack(
        [
            pairs[..., 0] * cos - pairs[..., 1] * sin,
            pairs[..., 1] * cos + pairs[..., 0] * sin,
        ],
        -1,
    )
    out = out.flatten(3)
    return out.type_as(x)


def make():
    return rotated


def inputs(dtype):
    angles = torch.randn(1, 5, 1, 8)
    return [(torch.randn(2, 5, 3, 16).to(dtype), angles.cos(), angles.sin())]
