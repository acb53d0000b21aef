"""RMSNorm over the last axis: x / sqrt(mean(x^2) + eps) * weight."""
import torch

from npufuse.rule import rule, rand, torch_npu, uncentred

rule(
    id="rms_norm",
    family="rms_norm",
    operator="npu_rms_norm",
    priority="high",
    gain="about 6 elementwise and reduction kernels become one",
    risks=(
        "the operator multiplies by the weight in float32 and rounds once; "
        "code that rounds the normalised value first differs in the last bits",
    ),
)


def reference(x, weight=None, eps=1e-6, *, one_plus=False):
    """x (..., d); weight (d) or absent; one_plus: Gemma's 1 + weight."""
    h = x.float()
    h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + eps)
    if weight is not None:
        if one_plus:
            h = h * (1 + weight)
        else:
            h = h * weight
    return h


def replacement(x, weight=None, eps=1e-6, *, one_plus=False):
    if weight is None:
        # One small fill; the operator takes no absent gamma.
        gamma = torch.ones(x.shape[-1], dtype=torch.float32, device=x.device)
    elif one_plus:
        # In float32: bfloat16 has steps of 1/128 above 1 and loses the weight.
        gamma = 1 + weight.float()
    else:
        # Equal dtypes or float32 gamma; x is never cast down.
        gamma = weight if weight.dtype == x.dtype else weight.float()
    return torch_npu.npu_rms_norm(x, gamma, epsilon=eps)[0]


def requires(x, weight=None, eps=1e-6):
    assert uncentred(x), "the mean is subtracted first: a layer norm, not an RMS norm"
    assert isinstance(eps, float), "epsilon is a Python number"
    # A weight of two axes would be normalised over both.
    if weight is not None:
        assert weight.shape == x.shape[-1:], "weight spans the last axis only"


def sample():
    return dict(x=rand(2, 16, 64), weight=rand(64, shift=1.0), eps=1e-6)
