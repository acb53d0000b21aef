"""RMSNorm that multiplies by 1 + weight, by the operator made for it."""
import torch

from npufuse.rule import cast_like, contiguous, rule, rand, torch_npu, uncentred

rule(
    id="gemma_rms_norm",
    family="gemma_rms_norm",
    operator="npu_gemma_rms_norm",
    priority="low",
    weights=("weight",),
    caution="npu_gemma_rms_norm has no gradient (it is silently None): for inference "
            "only; npu_rms_norm with 1 + weight in float32 trains too",
    gain="about 7 elementwise and reduction kernels become one, for inference; "
         "npu_rms_norm needs one more for 1 + weight",
)


def reference(x, weight, eps=1e-6):
    """x (..., d); weight (d)."""
    h = x.float()
    h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + eps)
    return h * (1 + weight)


def replacement(x, weight, eps=1e-6):
    # The operator adds the one itself, in float32. x may be widened to the
    # result's dtype; the weight follows.
    return torch_npu.npu_gemma_rms_norm(
        contiguous(x), cast_like(weight, x), epsilon=eps
    )[0]


def requires(x, weight, eps=1e-6):
    assert uncentred(x), "the mean is subtracted first: a layer norm, not an RMS norm"
    assert isinstance(eps, float), "epsilon is a Python number"
    # As in limits(), which rules test does not ask.
    assert weight.dtype == x.dtype, "gamma has the input's dtype"
    # A weight of two axes would be normalised over both.
    assert weight.shape == x.shape[-1:], "weight spans the last axis only"


def sample():
    return dict(x=rand(2, 16, 64), weight=rand(64, shift=0.0), eps=1e-6)
