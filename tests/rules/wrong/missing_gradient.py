"""Wrong: no gradient flows to x."""
import torch

from npufuse.rule import rule, rand, torch_npu

rule(
    id="wrong_missing_gradient",
    family="wrong_missing_gradient",
    operator="npu_fast_gelu",
    priority="low",
    gain="none; it is wrong",
)


def reference(x):
    return x * torch.sigmoid(1.702 * x)


def replacement(x):
    return torch_npu.npu_fast_gelu(x.detach())


def requires(x):
    pass


def sample():
    return dict(x=rand(2, 8, 64))
