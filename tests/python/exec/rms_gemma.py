"""Multiplies by one plus a weight near zero, all in float32."""
import torch
from torch import nn

EXPECT = {"rms_norm": 1}


class Norm(nn.Module):
    def __init__(self, size, eps=1e-6):
        super().__init__()
        self.eps = eps
        # Rounded to bfloat16, 1 + 0.0038 is 1.
        self.weight = nn.Parameter(torch.randn(size) * 3e-5 + 3.8e-3)

    def _norm(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)

    def forward(self, x):
        output = self._norm(x.float())
        output = output * (1.0 + self.weight.float())
        return output.type_as(x)


def make():
    return Norm(32)


def inputs(dtype):
    return [(torch.randn(2, 5, 32).to(dtype),)]
