"""Wrong: the other half is activated."""
import torch
import torch.nn.functional as F

from npufuse.rule import contiguous, rule, rand, torch_npu

rule(
    id="wrong_swapped_halves",
    family="wrong_swapped_halves",
    operator="npu_swiglu",
    priority="low",
    gain="none; it is wrong",
)


def reference(x):
    up, gate = x.chunk(2, dim=-1)
    return F.silu(gate) * up


def replacement(x):
    return torch_npu.npu_swiglu(contiguous(x), dim=-1)


def requires(x):
    assert x.shape[-1] % 2 == 0, "the packed axis has an even size"


def sample():
    return dict(x=rand(2, 8, 64))
