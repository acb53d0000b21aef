"""The mean is taken over as many axes, from the last one on, as the weight has."""
import torch
from torch import nn


class ByShape(nn.Module):
    def __init__(self, shape, eps=1e-6):
        super().__init__()
        self.axes = tuple(range(-len(shape), 0))
        self.weight = nn.Parameter(torch.ones(shape))
        self.eps = eps

    def forward(self, x):
        mean = x.pow(2).mean(dim=self.axes, keepdim=True)
        return x * torch.rsqrt(mean + self.eps) * self.weight  # expect: rms_norm recommend


def norm(x, shape, weight, eps: float = 1e-6):
    axes = tuple(range(-1, -len(shape) - 1, -1))
    mean = (x * x).mean(axes, keepdim=True)
    return x * torch.rsqrt(mean + eps) * weight  # expect: rms_norm recommend|caution


def scripted(x, shape, weight, eps: float = 1e-6):
    count = len(shape)
    v = x.pow(2)
    if torch.jit.is_scripting():
        assert count == 1
        v = torch.mean(v, dim=-1).unsqueeze(-1)
    else:
        axes = tuple(range(-1, -count - 1, -1))
        v = torch.mean(v, dim=axes, keepdim=True)
    x = x * torch.rsqrt(v + eps)
    return x * weight  # allow: rms_norm recommend|caution
