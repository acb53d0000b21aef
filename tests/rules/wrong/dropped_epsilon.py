"""Wrong: the epsilon is 0."""
import torch

from npufuse.rule import rule, rand, torch_npu

rule(
    id="wrong_dropped_epsilon",
    family="wrong_dropped_epsilon",
    operator="npu_rms_norm",
    priority="low",
    gain="none; it is wrong",
)


def reference(x, weight, eps=1e-6):
    h = x.float()
    return h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + eps) * weight


def replacement(x, weight, eps=1e-6):
    gamma = weight if weight.dtype == x.dtype else weight.float()
    return torch_npu.npu_rms_norm(x, gamma, epsilon=0.0)[0]


def requires(x, weight, eps=1e-6):
    pass


def sample():
    return dict(x=rand(2, 16, 64), weight=rand(64, shift=1.0), eps=1e-6)
