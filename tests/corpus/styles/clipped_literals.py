"""Clamped halves whose limits and factor are written as numbers."""
import torch
import torch.nn.functional as F


def packed(x):
    gate, up = x.chunk(2, dim=-1)
    limited = F.silu(gate.clamp(max=7.0))
    return limited * up.clamp(min=-7.0, max=7.0)  # expect: clipped_swiglu recommend # expect: swiglu reject


def limits_differ(x):
    gate, up = x.chunk(2, dim=-1)
    limited = F.silu(gate.clamp(max=7.0))
    return limited * up.clamp(min=-6.0, max=7.0)  # expect: swiglu reject # allow: clipped_swiglu reject


def steep(x):
    gate, up = x[..., ::2], x[..., 1::2]
    gate, up = gate.clamp(max=7.0), up.clamp(-7.0, 7.0)
    return (up + 1) * (gate * torch.sigmoid(gate * 1.702))  # expect: clipped_swiglu caution # expect: quick_gelu recommend
