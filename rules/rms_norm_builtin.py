"""rms_norm of torch over the last axis."""
import torch
import torch.nn.functional as F

from npufuse.rule import rule, rand, torch_npu

rule(
    id="rms_norm_builtin",
    family="rms_norm",
    operator="npu_rms_norm",
    priority="medium",
    gain="torch_npu runs torch's rms_norm as about 6 separate kernels; they become one",
    risks=(
        "the operator multiplies by the weight in float32 and rounds once; "
        "releases of torch that round the normalised value first differ in the last bits",
    ),
)


def npu_rms_norm_eps(dtype, known={}):
    """The epsilon of torch's rms_norm where none is given.

    The smallest step above 1 of the dtype, or of float32 in which it computes:
    releases differ. 1e-3 becomes 1e-3 / sqrt(1e-6 + epsilon).
    """
    if dtype not in known:
        norm = torch.nn.RMSNorm(1, elementwise_affine=False)
        y = norm(torch.full((1,), 1e-3, dtype=dtype, device="cpu"))
        known[dtype] = torch.finfo(torch.float32 if y.item() > 0.5 else dtype).eps
    return known[dtype]


def reference(x, weight=None, eps: float = None, *, one_plus=False):
    """x (..., d); weight (d) or absent; eps: absent, torch's own; one_plus: 1 + weight."""
    if weight is not None:
        if one_plus:
            scale = 1 + weight
        else:
            scale = weight
        if eps is not None:
            return F.rms_norm(x, x.shape[-1:], scale, eps)
        return F.rms_norm(x, x.shape[-1:], scale)
    if eps is not None:
        return F.rms_norm(x, x.shape[-1:], None, eps)
    return F.rms_norm(x, x.shape[-1:])


def replacement(x, weight=None, eps: float = None, *, one_plus=False):
    if weight is None:
        # One small fill; the operator takes no absent gamma.
        gamma = torch.ones(x.shape[-1], dtype=x.dtype, device=x.device)
    elif one_plus:
        # In float32: bfloat16 has steps of 1/128 above 1 and loses the weight.
        gamma = 1 + weight.float()
    else:
        gamma = weight
    if eps is None:
        epsilon = npu_rms_norm_eps(x.dtype)
    else:
        epsilon = eps
    return torch_npu.npu_rms_norm(x, gamma, epsilon=epsilon)[0]


def requires(x, weight=None, eps: float = None):
    # Some releases of torch return float32 there, others the input's dtype.
    assert x.dtype == torch.float32 or not torch.is_autocast_enabled(x.device.type), (
        "the input is float32, or autocast is off"
    )
    if weight is not None:
        # torch takes None, too.
        assert isinstance(weight, torch.Tensor), "the weight is given"
        assert weight.dtype == x.dtype, "weight has the input's dtype"
        # A weight of two axes would be normalised over both.
        assert weight.shape == x.shape[-1:], "weight spans the last axis only"
    if eps is not None:
        assert isinstance(eps, float), "epsilon is a Python number"


def sample():
    return dict(x=rand(2, 16, 64), weight=rand(64, shift=1.0), eps=1e-6)
