"""Halves that are read from the chunk by their index."""
import torch
import torch.nn.functional as F

EXPECT = {"swiglu": 1}


def gated(x):
    x = torch.chunk(x, 2, dim=-1)
    return F.silu(x[0]) * x[1]


def make():
    return gated


def inputs(dtype):
    return [(torch.randn(2, 3, 16).to(dtype),), (torch.randn(5, 8).to(dtype),)]
