"""SiLU of a group norm, as blocks of diffusion models have it."""
import torch
import torch.nn.functional as F

from npufuse.rule import rule, rand, torch_npu

rule(
    id="group_norm_silu",
    family="group_norm_silu",
    operator="npu_group_norm_silu",
    priority="low",
    weights=("weight", "bias"),
    caution="npu_group_norm_silu has no gradient (it is silently None): for inference only; "
            "npu_group_norm_swish trains too, with weight and bias of the input's dtype",
    gain="the norm and SiLU become one kernel, for inference",
    risks=(
        "the operator activates before it rounds; the original rounds the norm first",
    ),
)


def reference(x, weight, bias, groups=32, eps=1e-5):
    """x (n, c, ...); weight and bias (c)."""
    return F.silu(F.group_norm(x, groups, weight, bias, eps))


def replacement(x, weight, bias, groups=32, eps=1e-5):
    # float32 goes with any x, which may be widened to the result's dtype.
    gamma = weight if weight.dtype == x.dtype else weight.float()
    beta = bias if bias.dtype == x.dtype else bias.float()
    return torch_npu.npu_group_norm_silu(x, gamma, beta, groups, eps=eps)[0]


def requires(x, weight, bias, groups=32, eps=1e-5):
    assert isinstance(groups, int), "the number of groups is a Python number"
    assert isinstance(eps, float), "epsilon is a Python number"
    # As in limits(), which rules test does not ask.
    assert weight.dtype in (x.dtype, torch.float32), "weight has the input's dtype or is float32"
    assert bias.dtype == weight.dtype, "bias has weight's dtype"


def sample():
    return dict(x=rand(2, 64, 6, 5), weight=rand(64, shift=1.0), bias=rand(64), groups=32,
                eps=1e-5)
