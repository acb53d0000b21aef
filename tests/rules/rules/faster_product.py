"""A matrix product spelled with broadcasting becomes torch.matmul: faster."""
import torch

from npufuse.rule import rule, rand

rule(
    id="faster_product",
    family="faster_product",
    operator="matmul",
    priority="high",
    gain="no tensor of all products is made",
)


def reference(x, w):
    """x (n, k), w (k, m)"""
    return (x.unsqueeze(-1) * w).sum(dim=-2)


def replacement(x, w):
    # In float64, which autocast leaves as it is: the original is not lowered.
    return torch.matmul(x.double(), w.double()).to(torch.promote_types(x.dtype, w.dtype))


def requires(x, w):
    pass


def sample():
    return dict(x=rand(4, 16), w=rand(16, 8))
