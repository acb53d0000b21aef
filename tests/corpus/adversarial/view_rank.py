"""Halves by a view: only where the view keeps every leading axis."""
import torch
import torch.nn.functional as F


def rank_unknown(x):
    # For a three-dimensional x the view mixes the two last axes: a and b are
    # two tensors to be joined, not the halves of x.
    a, b = x.view(x.shape[0], 2, -1).unbind(-2)
    return F.silu(a) * b  # expect: swiglu recommend


def sizes_of_another(x, y):
    b, s, d = y.shape
    h = x.view(b, s, 2, -1)
    return F.silu(h[..., 0, :]) * h[..., 1, :]  # expect: swiglu recommend


def rank_shown(x):
    b, s, d = x.shape
    h = x.view(b, s, 2, -1)
    return F.silu(h[..., 0, :]) * h[..., 1, :]  # expect: swiglu recommend


def all_leading(x):
    a, b = x.view(*x.shape[:-1], 2, -1).unbind(-2)
    return F.silu(a) * b  # expect: swiglu recommend
