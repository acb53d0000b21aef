"""Parts that are no halves of the last axis."""
import torch
import torch.nn.functional as F


def interleaved(x):
    return F.silu(x[..., ::2]) * x[..., 1::2]  # expect: swiglu caution|recommend


def three(x):
    a, b, c = x.chunk(3, dim=-1)
    return F.silu(a) * b + c  # expect: swiglu caution|recommend


def overlapping(x, d):
    return F.silu(x[..., :d]) * x[..., 1:d + 1]  # expect: swiglu caution|recommend


def same_half(x):
    a, b = x.chunk(2, dim=-1)
    return F.silu(a) * a + b  # clean: one half only


def first_axis(x):
    a, b = x.chunk(2, dim=0)
    return F.silu(a) * b  # expect: swiglu caution|recommend


def middle_axis(x):
    a, b = x.chunk(2, dim=1)
    return F.silu(a) * b  # expect: swiglu caution|recommend


def two_sources(x, y):
    a, _ = x.chunk(2, dim=-1)
    _, b = y.chunk(2, dim=-1)
    return F.silu(a) * b  # expect: swiglu caution|recommend


def default_axis(x):
    a, b = torch.chunk(x, 2)
    return F.silu(a) * b  # expect: swiglu caution|recommend


def unequal(x):
    a, b = torch.split(x, [32, 64], dim=-1)
    return F.silu(a) * b[..., :32]  # expect: swiglu caution|recommend
