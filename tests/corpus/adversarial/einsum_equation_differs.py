"""Equations that are put together by f-strings, and are another product or not in sight."""
from torch import einsum


def not_in_sight(q, k, v, keys):
    scores = einsum(f"b h i d, {keys} -> b h i j", q, k) * q.shape[-1] ** -0.5
    weights = scores.softmax(dim=-1)
    return einsum(f"b h i j, {keys} -> b h i d", weights, v)  # clean: any equation


def along_the_queries(q, k, v):
    values = "b h i d"
    scores = einsum(f"b h i d, b h j d -> b h i j", q, k) * q.shape[-1] ** -0.5
    weights = scores.softmax(dim=-1)
    return einsum(f"b h i j, {values} -> b h j d", weights, v)  # clean: the queries are summed


def formatted(q, k, v, letter):
    scores = einsum(f"b h i d, b h {letter!s} d -> b h i j", q, k) * q.shape[-1] ** -0.5
    weights = scores.softmax(dim=-1)
    return einsum("b h i j, b h j d -> b h i d", weights, v)  # clean: any equation
