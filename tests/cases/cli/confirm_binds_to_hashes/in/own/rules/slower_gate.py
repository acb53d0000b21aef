"""A gate becomes the mean of many copies of itself: slower."""
import torch

from npufuse.rule import rule, rand

rule(
    id="slower_gate",
    family="slower_gate",
    operator="mean",
    priority="low",
    gain="none; it is slower",
)


def reference(x, gate):
    return x * torch.tanh(gate)


def replacement(x, gate):
    return torch.mean(torch.stack([x * torch.tanh(gate)] * 12), dim=0)


def requires(x, gate):
    assert x.shape == gate.shape, "both have one shape"


def sample():
    return dict(x=rand(4, 16), gate=rand(4, 16))
