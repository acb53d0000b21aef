"""Pairs that are joined by a view of sizes that were taken apart."""
import torch


def turn(x):
    first, second = x[..., 0::2], x[..., 1::2]
    x = torch.stack((-second, first), dim=-1)
    *shape, pairs, two = x.shape
    return x.view(*shape, pairs * two)


def turn_by_product(x):
    first, second = x[..., 0::2], x[..., 1::2]
    x = torch.stack((-second, first), dim=-1)
    return x.reshape(*x.shape[:-2], x.shape[-1] * x.shape[-2])


def rotate(freqs, x):
    freqs = freqs.to(x)
    return x * freqs.cos() + turn(x) * freqs.sin()  # expect: rope recommend


def rotate_by_product(x, cos, sin):
    return x * cos + turn_by_product(x) * sin  # expect: rope recommend
