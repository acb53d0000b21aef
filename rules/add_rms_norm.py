"""The sum of two tensors and its RMSNorm."""
import torch

from npufuse.rule import cast_like, rule, rand, torch_npu

rule(
    id="add_rms_norm",
    family="add_rms_norm",
    operator="npu_add_rms_norm",
    priority="low",
    weights=("weight",),
    caution="npu_add_rms_norm raises in backward: for inference only; npu_rms_norm of "
            "the sum trains too",
    reused="the sum is used again: the operator returns it as its third result, which "
           "the replacement leaves out; take it by hand",
    gain="the sum and about 6 elementwise and reduction kernels become one, for inference",
    risks=(
        "the operator multiplies by the weight in float32 and rounds once; "
        "code that rounds the normalised value first differs in the last bits",
    ),
)


def reference(x1, x2, weight, eps=1e-6):
    """x1, x2 (..., d); weight (d)."""
    x = x1 + x2
    h = x.float()
    h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + eps)
    return h * weight


def replacement(x1, x2, weight, eps=1e-6):
    # x1 may be widened to the result's dtype; the others follow.
    return torch_npu.npu_add_rms_norm(
        x1, cast_like(x2, x1), cast_like(weight, x1), epsilon=eps
    )[0]


def requires(x1, x2, weight, eps=1e-6):
    assert isinstance(eps, float), "epsilon is a Python number"
    # As in limits(), which rules test does not ask.
    assert x2.dtype == x1.dtype, "x2 has x1's dtype"
    assert x2.shape == x1.shape, "x2 has x1's shape"
    assert weight.dtype == x1.dtype, "gamma has x1's dtype"
    # A weight of two axes would be normalised over both.
    assert weight.shape == x1.shape[-1:], "weight spans the last axis only"


def sample():
    return dict(x1=rand(2, 16, 64), x2=rand(2, 16, 64), weight=rand(64, shift=1.0), eps=1e-6)
