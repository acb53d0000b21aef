"""A view that does not split the last axis: its parts are two tensors."""
import torch
import torch.nn.functional as F

EXPECT = {"swiglu": 1}


def gated(x):
    a, b = x.view(x.shape[0], 2, -1).unbind(-2)
    return F.silu(a) * b


def make():
    return gated


def inputs(dtype):
    # Three axes: halves of the last one would give other values.
    return [(torch.randn(2, 4, 6).to(dtype),), (torch.randn(3, 8).to(dtype),)]
