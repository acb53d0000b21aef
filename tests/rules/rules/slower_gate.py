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
    # In float32: twelve gradients that are added in bfloat16 would be rounded.
    return torch.mean(torch.stack([x.float() * torch.tanh(gate.float())] * 12), dim=0)


def requires(x, gate):
    assert x.shape == gate.shape, "both have one shape"


def sample():
    return dict(x=rand(4, 16), gate=rand(4, 16))
