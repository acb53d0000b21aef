"""SwiGLU of clamped halves, as some mixtures of experts have it."""
import torch
import torch.nn.functional as F

from npufuse.rule import contiguous, rule, rand, torch_npu

rule(
    id="clipped_swiglu",
    family="clipped_swiglu",
    operator="npu_clipped_swiglu",
    priority="low",
    gain="clamps, SiLU and the products become one kernel, for inference",
    risks_of=("gate: two separate tensors are concatenated first: one more copy of both",),
    risks=("the operator has no backward: in training the original runs",),
)


def reference(x=None, gate=None, up=None, limit=7.0, alpha=1.702, *, biased=False,
              interleaved=False):
    """x (..., 2d) packed by halves or by even and odd columns, or gate and up
    (..., d). biased: (up + 1) * gate * sigmoid(alpha * gate); else silu(gate) * up.
    """
    if x is not None:
        if interleaved:
            gate, up = x[..., ::2], x[..., 1::2]
        else:
            gate, up = x.chunk(2, dim=-1)
    gate = gate.clamp(max=limit)
    up = up.clamp(min=-limit, max=limit)
    if biased:
        return (up + 1) * (gate * torch.sigmoid(gate * alpha))
    return F.silu(gate) * up


def replacement(x=None, gate=None, up=None, limit=7.0, alpha=1.702, *, biased=False,
                interleaved=False):
    # The operator's defaults are alpha 1.702, bias 1 and even and odd columns:
    # all are always passed.
    if x is not None:
        if biased:
            return torch_npu.npu_clipped_swiglu(
                contiguous(x), dim=-1, alpha=alpha, limit=limit, bias=1.0,
                interleaved=interleaved,
            )
        return torch_npu.npu_clipped_swiglu(
            contiguous(x), dim=-1, alpha=1.0, limit=limit, bias=0.0,
            interleaved=interleaved,
        )
    if biased:
        return torch_npu.npu_clipped_swiglu(
            torch.cat([gate, up], dim=-1), dim=-1, alpha=alpha, limit=limit, bias=1.0,
            interleaved=False,
        )
    return torch_npu.npu_clipped_swiglu(
        torch.cat([gate, up], dim=-1), dim=-1, alpha=1.0, limit=limit, bias=0.0,
        interleaved=False,
    )


def requires(x=None, gate=None, up=None, limit=7.0, alpha=1.702):
    if x is not None:
        assert x.shape[-1] % 2 == 0, "the packed axis has an even size"
    else:
        assert gate.shape == up.shape, "gate and up have the same shape"
    assert isinstance(limit, float), "the limit is a Python number"


def sample():
    # A small limit, or no value would reach it.
    return dict(x=rand(2, 8, 64), gate=rand(2, 8, 32), up=rand(2, 8, 32), limit=0.5, alpha=1.702)
