"""The tanh form, the first half is the gate."""
import torch
import torch.nn.functional as F

EXPECT = {"geglu": 1}


def geglu(x):
    gate, up = x.chunk(2, dim=-1)
    return F.gelu(gate, approximate="tanh") * up


def make():
    return geglu


def inputs(dtype):
    return [(torch.randn(2, 3, 16).to(dtype),)]
