"""Halves turned by a helper that writes them into a new tensor."""
import torch

EXPECT = {"rope": 1}


def turned(x):
    half = x.shape[-1] // 2
    out = torch.empty_like(x)
    out[..., :half] = -x[..., half:]
    out[..., half:] = x[..., :half]
    return out


def rotated(q, cos, sin):
    return q * cos + turned(q) * sin


def make():
    return rotated


def inputs(dtype):
    angles = torch.randn(1, 1, 5, 16)
    return [(torch.randn(2, 3, 5, 16).to(dtype), angles.cos().to(dtype), angles.sin().to(dtype))]
