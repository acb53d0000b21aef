"""Epsilon is a number in the constructor; a method stores a tensor instead."""
import torch
import torch.nn as nn

EXPECT = {"rms_norm": 1}


class Norm(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.eps = 1e-6

    def widen(self):
        self.eps = self.weight.detach().abs() * 3

    def forward(self, x):
        return self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps))


def make():
    return Norm(16)


def others():
    norm = Norm(16)
    norm.widen()
    return [norm]


def inputs(dtype):
    return [(torch.randn(2, 3, 16).to(dtype),)]
