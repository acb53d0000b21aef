"""Halves that are swapped, of another sign, of other tensors, cut elsewhere."""
import torch


def halves(x):
    return x.chunk(2, dim=-1)


def no_sign(x, cos, sin):
    a, b = halves(x)
    return x * cos + torch.cat((b, a), dim=-1) * sin  # clean: neither half is negated


def both_signs(x, cos, sin):
    a, b = halves(x)
    return x * cos + torch.cat((-b, -a), dim=-1) * sin  # clean: both halves are negated


def not_swapped(x, cos, sin):
    a, b = halves(x)
    return x * cos + torch.cat((-a, b), dim=-1) * sin  # clean: the halves stay where they are


def of_another(x, y, cos, sin):
    a, b = halves(y)
    return x * cos + torch.cat((-b, a), dim=-1) * sin  # clean: the halves are those of y


def of_two(x, y, cos, sin):
    a, _ = halves(x)
    _, b = halves(y)
    return x * cos + torch.cat((-b, a), dim=-1) * sin  # clean: halves of two tensors


def one_fixed_cut(x, cos, sin):
    turned = torch.cat((-x[..., 16:], x[..., :16]), dim=-1)
    return x * cos + turned * sin  # expect: rope recommend


def two_cuts(x, cos, sin, d):
    turned = torch.cat((-x[..., d:], x[..., : d // 2]), dim=-1)
    return x * cos + turned * sin  # clean: the two are cut at two places


def thirds(x, cos, sin):
    a, b, _ = x.chunk(3, dim=-1)
    return x * cos + torch.cat((-b, a), dim=-1) * sin  # clean: thirds


def other_axis(x, cos, sin):
    a, b = x.chunk(2, dim=-2)
    return x * cos + torch.cat((-b, a), dim=-2) * sin  # clean: another axis


def mixed_axes(x, cos, sin):
    a, b = x.chunk(2, dim=-1)
    return x * cos + torch.cat((-b, a), dim=-2) * sin  # clean: cut along one axis, joined along another


def rolled(x, cos, sin):
    return x * cos + torch.roll(x, x.shape[-1] // 2, dims=-1) * sin  # clean: no sign
