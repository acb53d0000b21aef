"""Casts to the weight's dtype where that one is half; the statistics alone
are computed in float32."""
import torch
from torch import nn

EXPECT = {"rms_norm": 1}


class LayerNorm(nn.Module):
    def __init__(self, size, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(size) + 0.5)
        self.variance_epsilon = eps

    def forward(self, x):
        variance = x.to(torch.float32).pow(2).mean(-1, keepdim=True)
        x = x * torch.rsqrt(variance + self.variance_epsilon)
        if self.weight.dtype in [torch.float16, torch.bfloat16]:
            x = x.to(self.weight.dtype)
        return self.weight * x


def make():
    return LayerNorm(24)


def inputs(dtype):
    return [(torch.randn(3, 4, 24).to(dtype),)]
