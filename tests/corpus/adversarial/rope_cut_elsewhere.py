"""Rotations whose parts are certainly no halves."""
import torch


def literal(x, cos, sin):
    x = x.view(2, 8, -1, 64)
    a, b = x[..., :16], x[..., 16:]
    return x * cos + torch.cat((-b, a), dim=-1) * sin  # clean: cut at a quarter


def quarter(x, cos, sin):
    n = x.shape[-1] // 4
    a, b = x[..., :n], x[..., n:]
    return x * cos + torch.cat((-b, a), dim=-1) * sin  # clean: cut at a quarter


def rotate_third(x):
    n = x.size(-1) // 3
    return torch.cat((-x[..., n:], x[..., :n]), dim=-1)


def third(x, cos, sin):
    return x * cos + rotate_third(x) * sin  # clean: cut at a third


def by_factor(x, cos, sin):
    n = int(x.size(-1) * 0.25)
    a, b = x[..., :n], x[..., n:]
    return x * cos + torch.cat((-b, a), dim=-1) * sin  # clean: cut at a quarter


def half_by_factor(x, cos, sin):
    n = int(x.size(-1) * 0.5)
    a, b = x[..., :n], x[..., n:]
    return x * cos + torch.cat((-b, a), dim=-1) * sin  # expect: rope recommend


def literal_half(x, cos, sin):
    x = x.view(2, 8, -1, 64)
    a, b = x[..., :32], x[..., 32:]
    return x * cos + torch.cat((-b, a), dim=-1) * sin  # expect: rope recommend
