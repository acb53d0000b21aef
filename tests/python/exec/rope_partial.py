"""The first part of the head by halves, the rest as it is."""
import torch

EXPECT = {"rope": 1}


def turned(x):
    a, b = x.chunk(2, -1)
    return torch.cat((-b, a), -1)


def rotate(q, cos, sin):
    width = cos.shape[-1]
    rot, rest = q[..., :width], q[..., width:]
    rot = rot * cos + turned(rot) * sin
    return torch.cat((rot, rest), dim=-1)


def make():
    return rotate


def inputs(dtype):
    angles = torch.randn(1, 6, 1, 16).to(dtype)
    return [(torch.randn(2, 6, 3, 24).to(dtype), angles.cos(), angles.sin())]
