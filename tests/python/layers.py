"""Layers that the wrong rules under tests/rules/wrong are tried on."""

LAYERS = '''\
import torch
import torch.nn.functional as F
from torch import nn


class Norm(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))

    def forward(self, x):
        h = x.float()
        h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-6)
        return (h * self.weight).to(x.dtype)


class Activation(nn.Module):
    def forward(self, x):
        return x * torch.sigmoid(1.702 * x)


class Gate(nn.Module):
    def forward(self, x):
        up, gate = x.chunk(2, dim=-1)
        return F.silu(gate) * up
'''
