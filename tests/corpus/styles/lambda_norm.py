"""Lambdas and helpers held by modules."""
import torch
import torch.nn.functional as F
from torch import nn

mean_square = lambda t: t.pow(2).mean(-1, keepdim=True)


def inverse_rms(t, eps):
    return torch.rsqrt(mean_square(t) + eps)


class HelperNorm(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.g = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        return x * inverse_rms(x, 1e-6) * self.g  # expect: rms_norm recommend


class LambdaAct(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.up, self.gate = nn.Linear(d, h), nn.Linear(d, h)
        self.act = lambda t: t * torch.sigmoid(t)

    def forward(self, x):
        return self.up(x) * self.act(self.gate(x))  # expect: swiglu recommend


class StaticAct(nn.Module):
    @staticmethod
    def swish(t):
        return t.sigmoid() * t

    def forward(self, a, b):
        return self.swish(a) * b  # expect: swiglu recommend|caution
