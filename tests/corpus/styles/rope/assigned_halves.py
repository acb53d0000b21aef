"""Halves written into a tensor of the same shape."""
import torch


def rotate(x, cos, sin):
    h = x.shape[-1] // 2
    x1, x2 = x[..., :h], x[..., h:]
    out = torch.empty_like(x)
    out[..., :h] = x1 * cos - x2 * sin  # expect: rope caution
    out[..., h:] = x2 * cos + x1 * sin
    return out


def rotate_pairs(x, cos, sin):
    turned = torch.zeros_like(x)
    turned[..., ::2] = -x[..., 1::2]
    turned[..., 1::2] = x[..., ::2]
    return x * cos + turned * sin
