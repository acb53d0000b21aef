"""Packed gate and up in every spelling."""
import torch
import torch.nn.functional as F


def chunk_method(x):
    g, u = x.chunk(2, dim=-1)
    return F.silu(g) * u  # expect: swiglu recommend


def chunk_function(x):
    g, u = torch.chunk(x, chunks=2, dim=-1)
    return u * F.silu(g)  # expect: swiglu recommend


def chunk_index(x):
    x = torch.chunk(x, 2, dim=-1)
    return F.silu(x[0]) * x[1]  # expect: swiglu recommend


def split_half(x):
    g, u = x.split(x.shape[-1] // 2, dim=-1)
    return F.silu(g) * u  # expect: swiglu recommend


def split_sizes(x, d):
    g, u = torch.split(x, [d, d], dim=-1)
    return F.silu(g) * u  # expect: swiglu recommend|caution


def tensor_split(x):
    g, u = torch.tensor_split(x, 2, dim=-1)
    return F.silu(g) * u  # expect: swiglu recommend|caution


def slices(x):
    half = x.size(-1) // 2
    return F.silu(x[..., :half]) * x[..., half:]  # expect: swiglu recommend


def second_is_gate(x):
    value, gate = x.chunk(2, dim=-1)
    return value * F.silu(gate)  # expect: swiglu recommend


def by_view(x):
    b, s, d = x.shape
    g, u = x.view(b, s, 2, -1).unbind(-2)
    return F.silu(g) * u  # expect: swiglu recommend|caution


def narrow(x):
    d = x.shape[-1] // 2
    return F.silu(x.narrow(-1, 0, d)) * x.narrow(-1, d, d)  # expect: swiglu recommend|caution


def last_axis_by_number(x):
    g, u = x.chunk(2, dim=x.dim() - 1)
    return F.silu(g) * u  # expect: swiglu recommend|caution
