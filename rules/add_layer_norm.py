"""The sum of two tensors and its layer norm."""
import torch
import torch.nn.functional as F

from npufuse.rule import cast_like, rule, rand, torch_npu

rule(
    id="add_layer_norm",
    family="add_layer_norm",
    operator="npu_add_layer_norm",
    priority="low",
    weights=("weight", "bias"),
    caution="npu_add_layer_norm has no page of its own: its limits are those of "
            "aclnnAddLayerNorm, and what it saves is the sum's kernel alone",
    reused="the sum is used again: the operator returns it as its fourth result with "
           "additional_output=True, which the replacement leaves out; take it by hand",
    gain="the sum and the norm become one kernel; backward becomes one too",
    risks=(
        "the operator adds and normalises in float32 and rounds once; the original "
        "rounds the sum first",
    ),
)


def reference(x1, x2, weight, bias, eps=1e-5):
    """x1, x2 (..., d); weight and bias (d)."""
    return F.layer_norm(x1 + x2, weight.shape, weight, bias, eps)


def replacement(x1, x2, weight, bias, eps=1e-5):
    # x1 may be widened to the result's dtype; x2 follows. float32 goes with any x1.
    gamma = weight if weight.dtype == x1.dtype else weight.float()
    beta = bias if bias.dtype == x1.dtype else bias.float()
    return torch_npu.npu_add_layer_norm(x1, cast_like(x2, x1), gamma, beta, epsilon=eps)[0]


def requires(x1, x2, weight, bias, eps=1e-5):
    assert isinstance(eps, float), "epsilon is a Python number"
    # As in limits(), which rules test does not ask.
    assert x2.dtype == x1.dtype, "x2 has x1's dtype"
    assert x2.shape == x1.shape, "x2 has x1's shape"
    assert weight.dtype in (x1.dtype, torch.float32), "gamma has x1's dtype or is float32"
    assert bias.dtype == weight.dtype, "beta has gamma's dtype"


def sample():
    return dict(x1=rand(2, 16, 64), x2=rand(2, 16, 64), weight=rand(64, shift=1.0),
                bias=rand(64), eps=1e-5)
