"""Wrong: the operator's result is float32, whatever its input is."""
import torch

from npufuse.rule import rule, rand, torch_npu

rule(
    id="wrong_lost_cast",
    family="wrong_lost_cast",
    operator="npu_lost_cast",
    priority="low",
    gain="none; it is wrong",
)


def reference(x):
    return x * torch.sigmoid(1.702 * x)


def replacement(x):
    return torch_npu.npu_lost_cast(x)


def requires(x):
    pass


def sample():
    return dict(x=rand(2, 8, 64))
