"""RMSNorm as a unit vector times the root of its size."""
import torch
import torch.nn.functional as F

from npufuse.rule import rule, rand, torch_npu, uncentred

rule(
    id="rms_norm_by_length",
    family="rms_norm",
    operator="npu_rms_norm",
    priority="high",
    gain="about 6 elementwise and reduction kernels become one",
    risks=(
        "rows shorter than 1e-12 are divided by 1e-12 in the original",
        "the operator multiplies by the weight in float32 and rounds once; "
        "code that rounds the normalised value first differs in the last bits",
    ),
)


def reference(x, weight=None, *, one_plus=False):
    """x (..., d); weight (d) or absent."""
    h = F.normalize(x.float(), dim=-1) * x.shape[-1] ** 0.5
    if weight is not None:
        if one_plus:
            h = h * (1 + weight)
        else:
            h = h * weight
    return h


def replacement(x, weight=None, *, one_plus=False):
    if weight is None:
        # One small fill; the operator takes no absent gamma.
        gamma = torch.ones(x.shape[-1], dtype=torch.float32, device=x.device)
    elif one_plus:
        # In float32: bfloat16 has steps of 1/128 above 1 and loses the weight.
        gamma = 1 + weight.float()
    else:
        # Equal dtypes or float32 gamma; x is never cast down.
        gamma = weight if weight.dtype == x.dtype else weight.float()
    # The square of the least length: a row of zeros stays one.
    return torch_npu.npu_rms_norm(x, gamma, epsilon=1e-24)[0]


def requires(x, weight=None):
    assert uncentred(x), "the mean is subtracted first: a layer norm, not an RMS norm"
    # A weight of two axes would be normalised over both.
    if weight is not None:
        assert weight.shape == x.shape[-1:], "weight spans the last axis only"


def sample():
    return dict(x=rand(2, 16, 64), weight=rand(64, shift=1.0))
