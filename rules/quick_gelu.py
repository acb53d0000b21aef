"""QuickGELU: x * sigmoid(1.702 * x)."""
import torch

from npufuse.rule import rule, rand, torch_npu

rule(
    id="quick_gelu",
    family="quick_gelu",
    operator="npu_fast_gelu",
    priority="low",
    gain="three elementwise kernels become one",
    risks=("the older product lines compute another formula",),
)


def reference(x):
    return x * torch.sigmoid(1.702 * x)


def replacement(x):
    return torch_npu.npu_fast_gelu(x)


def requires(x):
    pass


def sample():
    return dict(x=rand(2, 8, 64))
