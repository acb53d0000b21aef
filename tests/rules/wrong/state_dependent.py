"""Wrong: the operator is right in its first 20 calls only.

The unit check loads the operator anew for each of its cases, and a case makes
fewer calls than that, so it can't see this. A training run of 50 steps makes more:
the loss leaves there.
"""
import torch

from npufuse.rule import rule, rand, torch_npu

rule(
    id="wrong_state_dependent",
    family="wrong_state_dependent",
    operator="npu_wears_out",
    priority="low",
    gain="none; it is wrong",
)


def reference(x):
    return x * torch.sigmoid(1.702 * x)


def replacement(x):
    return torch_npu.npu_wears_out(x)


def requires(x):
    pass


def sample():
    return dict(x=rand(2, 8, 64))
