"""Wrong: the weight w is passed as 1 + w."""
import torch

from npufuse.rule import rule, rand, torch_npu

rule(
    id="wrong_one_plus",
    family="wrong_one_plus",
    operator="npu_rms_norm",
    priority="low",
    gain="none; it is wrong",
)


def reference(x, weight, eps=1e-6):
    h = x.float()
    return h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + eps) * weight


def replacement(x, weight, eps=1e-6):
    return torch_npu.npu_rms_norm(x, 1 + weight.float(), epsilon=eps)[0]


def requires(x, weight, eps=1e-6):
    pass


def sample():
    return dict(x=rand(2, 16, 64), weight=rand(64, shift=1.0), eps=1e-6)
