"""The product is written into the activated tensor, which is fresh."""
import torch
import torch.nn.functional as F

EXPECT = {"swiglu": 1}


def gated(x, w1, w3):
    h = F.silu(F.linear(x, w1))
    h *= F.linear(x, w3)
    return h


def make():
    return gated


def inputs(dtype):
    shapes = (2, 3, 16), (24, 16), (24, 16)
    return [tuple(torch.randn(shape).to(dtype) for shape in shapes)]
