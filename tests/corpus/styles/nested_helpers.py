"""Helpers defined within methods."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Inside(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.wi = nn.Linear(d, 2 * h)
        self.wo = nn.Linear(h, d)

        def swiglu(x):
            x = torch.chunk(x, 2, dim=-1)
            return F.silu(x[0]) * x[1]  # expect: swiglu recommend

        self.activation_func = swiglu

    def forward(self, x):
        return self.wo(self.activation_func(self.wi(x)))


def build(eps):
    def norm(x, w):
        return w * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)  # expect: rms_norm recommend|caution

    return norm
