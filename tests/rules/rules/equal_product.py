"""The same sum of products by another name: neither faster nor slower."""
import torch

from npufuse.rule import rule, rand

rule(
    id="equal_product",
    family="equal_product",
    operator="sum",
    priority="low",
    gain="none; the work is the same",
)


def reference(x, w):
    """x (n, k), w (k, m)"""
    return (x.unsqueeze(-1) * w).sum(dim=-2)


def replacement(x, w):
    return torch.sum(x.unsqueeze(-1) * w, dim=-2)


def requires(x, w):
    pass


def sample():
    return dict(x=rand(4, 16), w=rand(16, 8))
