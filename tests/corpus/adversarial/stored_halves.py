"""Halves that are written before they are read."""
import torch
import torch.nn.functional as F


def half_written(x):
    gate, up = x.chunk(2, dim=-1)
    s = F.silu(gate)
    x[..., 0] = 0
    return s * up  # allow: swiglu caution


def gate_written(x):
    gate, up = x.chunk(2, dim=-1)
    gate.mul_(2)
    return F.silu(gate) * up  # expect: swiglu caution|recommend


def up_written(x):
    gate, up = x.chunk(2, dim=-1)
    up += 1
    return F.silu(gate) * up  # expect: swiglu caution|recommend


def swapped_parts(x):
    a, b = x.chunk(2, dim=-1)
    a, b = b, a
    return F.silu(a) * b  # expect: swiglu recommend|caution


def reused(x):
    a, b = x.chunk(2, dim=-1)
    x = torch.cat([b, a], dim=-1)
    c, d = x.chunk(2, dim=-1)
    return F.silu(c) * d  # expect: swiglu recommend|caution


def concatenated(x, y):
    a, b = torch.cat([x, y], dim=-1).chunk(2, dim=-1)
    return F.silu(a) * b  # expect: swiglu recommend|caution


def rolled(x):
    a, b = x.roll(1, -1).chunk(2, dim=-1)
    return F.silu(a) * b  # expect: swiglu recommend|caution
