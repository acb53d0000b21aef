"""RMS norm by products, a root and a division: nothing that autocast raises to float32."""
import torch
from torch import nn

EXPECT = {"rms_norm": 1}


class Norm(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.w = nn.Parameter(torch.rand(d))

    def forward(self, h):
        return h / ((h * h).mean(-1, keepdim=True) + 1e-6).sqrt() * self.w


def make():
    return Norm(16)


def inputs(dtype):
    return [(torch.randn(2, 3, 16).to(dtype),)]
