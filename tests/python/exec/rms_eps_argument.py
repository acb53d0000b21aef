"""Epsilon is an argument of unknown kind: a tensor takes the eager way."""
import torch

EXPECT = {"rms_norm": 1}


def norm(x, weight, eps):
    h = x.float()
    h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + eps)
    return (h * weight).type_as(x)


def make():
    return norm


def inputs(dtype):
    return [(torch.randn(2, 3, 16).to(dtype), torch.rand(16).to(dtype) + 0.5, 1e-5)]


def excluded(dtype):
    x, weight, eps = inputs(dtype)[0]
    return [(x, weight, torch.full((2, 3, 1), eps))]
