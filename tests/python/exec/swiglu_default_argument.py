"""The activation is an argument whose default is SiLU."""
import torch
import torch.nn.functional as F

EXPECT = {"swiglu": 1}


def gated(gate, up, act=F.silu):
    return act(gate) * up


def make():
    return gated


def inputs(dtype):
    gate, up = torch.randn(2, 3, 16).to(dtype), torch.randn(2, 3, 16).to(dtype)
    return [(gate, up)]


def excluded(dtype):
    gate, up = torch.randn(2, 3, 16).to(dtype), torch.randn(2, 3, 16).to(dtype)
    return [(gate, up, torch.tanh)]
