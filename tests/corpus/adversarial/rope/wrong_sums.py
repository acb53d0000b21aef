"""The same parts, put together by another formula."""
import torch


def rotate_half(x):
    a, b = x.chunk(2, dim=-1)
    return torch.cat((-b, a), dim=-1)


def tables_swapped_in_one(x, cos, sin):
    a, b = x.chunk(2, dim=-1)
    return torch.cat([a * cos - b * sin, b * sin + a * cos], dim=-1)  # clean: the second half is no rotation


def both_minus(x, cos, sin):
    a, b = x.chunk(2, dim=-1)
    return torch.cat([a * cos - b * sin, b * cos - a * sin], dim=-1)  # clean: a hyperbolic sign


def both_plus(x, cos, sin):
    a, b = x.chunk(2, dim=-1)
    return torch.cat([a * cos + b * sin, b * cos + a * sin], dim=-1)  # clean: a hyperbolic sign


def other_tables(x, cos, sin, cos2, sin2):
    a, b = x.chunk(2, dim=-1)
    return torch.cat([a * cos - b * sin, b * cos2 + a * sin2], dim=-1)  # clean: two angles


def product(x, cos, sin):
    return (x * cos) * (rotate_half(x) * sin)  # clean: a product


def squared(x, cos, sin):
    return x * cos + rotate_half(x) * sin * sin  # allow: rope caution


def shifted(x, cos, sin):
    return x * (cos + 1) + rotate_half(x) * sin + 1  # allow: rope caution


def without_cosine(x, sin):
    return x + rotate_half(x) * sin  # clean: the first product is missing


def rotated_twice(x, cos, sin):
    return rotate_half(x) * cos + rotate_half(x) * sin  # clean: x itself is missing


def scaled_apart(x, cos, sin, scale: float):
    return x * cos * scale + rotate_half(x) * sin  # clean: one of the two is scaled


def another_rotation(x, y, cos, sin):
    return x * cos + rotate_half(y) * sin  # clean: y is rotated


def xpos(q, k, cos, sin, scale):
    q = q * cos + rotate_half(q) * sin  # expect: rope recommend
    k = k / scale
    return q, k * cos + rotate_half(k) * sin  # expect: rope recommend
