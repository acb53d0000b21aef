"""The second half is the gate."""
import torch
from torch import nn
import torch.nn.functional as F

EXPECT = {"swiglu": 1}


class GLU(nn.Module):
    def forward(self, x):
        x, gate = x.chunk(2, dim=-1)
        return F.silu(gate) * x


def make():
    return GLU()


def inputs(dtype):
    return [
        (torch.randn(2, 3, 16).to(dtype),),
        (torch.randn(3, 2, 16).to(dtype).transpose(0, 1),),
    ]


def excluded(dtype):
    return [(torch.randn(0, 16).to(dtype),)]
