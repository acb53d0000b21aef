"""A gate whose operator has limits in cases, and many parameters."""
import torch

from npufuse.rule import rule, rand

rule(
    id="gated",
    family="gated",
    operator="npu_gated",
    priority="low",
    gain="one kernel",
)


def reference(x, y):
    """x (n, k), y (n, k)"""
    return torch.sigmoid(x) * torch.tanh(y)


def replacement(x, y):
    return torch_npu.npu_gated(x, y, extra=y, mode="plain")


def requires(x, y):
    assert x.dtype in (torch.float32, torch.float64), "x is wide"


def sample():
    return dict(x=rand(4, 16), y=rand(4, 16))
