"""SiLU written out as x * sigmoid(x)."""
import torch

EXPECT = {"swiglu": 1}


def gated(gate, up):
    activated = gate * torch.sigmoid(gate)
    return activated * up


def make():
    return gated


def inputs(dtype):
    return [(torch.randn(2, 3, 16).to(dtype), torch.randn(2, 3, 16).to(dtype))]


def excluded(dtype):
    return [
        (torch.randn(2, 3, 16).to(dtype), torch.randn(2, 3, 1).to(dtype)),
        (torch.randn(3, 16).to(dtype), torch.randn(2, 3, 16).to(dtype)),
    ]
