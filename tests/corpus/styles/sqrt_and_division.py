"""The root and the division in other spellings."""
import math

import torch
from torch import nn


class A(nn.Module):
    def __init__(self, size, epsilon=1e-8):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(size))
        self.epsilon = epsilon

    def forward(self, hidden):
        rms = torch.sqrt(torch.mean(hidden ** 2, dim=-1, keepdim=True) + self.epsilon)
        return hidden / rms * self.scale  # expect: rms_norm recommend


class B(nn.Module):
    def __init__(self, size, epsilon=1e-8):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(size))
        self.epsilon = epsilon

    def forward(self, hidden):
        power = (torch.square(hidden).mean(axis=-1, keepdims=True) + self.epsilon) ** -0.5
        return torch.mul(torch.mul(hidden, power), self.scale)  # expect: rms_norm recommend


class C(nn.Module):
    def __init__(self, size, epsilon=1e-8):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(size))
        self.epsilon = epsilon

    def forward(self, hidden):
        inverse = torch.reciprocal(torch.sqrt(hidden.pow(2).mean(-1, True).add(self.epsilon)))
        return self.scale.mul(hidden.mul(inverse))  # expect: rms_norm recommend


def by_sum(x, w, eps=1e-6):
    total = x.pow(2).sum(-1, keepdim=True) / x.size(-1)
    return x * torch.rsqrt(total + eps) * w  # expect: rms_norm recommend


def by_norm(x, w, eps=1e-6):
    ms = x.norm(2, dim=-1, keepdim=True).pow(2) / x.shape[-1]
    return w * (x * torch.rsqrt(ms + eps))  # expect: rms_norm recommend


def by_scaled_norm(x, w):
    rms = x.norm(dim=-1, keepdim=True) * x.shape[-1] ** -0.5
    return w * x / rms  # allow: rms_norm recommend|caution


def by_math(x, w, eps=1e-6):
    n = torch.linalg.vector_norm(x, dim=-1, keepdim=True) / math.sqrt(x.shape[-1])
    return w * x * torch.rsqrt(n * n + eps)  # expect: rms_norm recommend|caution
