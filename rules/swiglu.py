"""SwiGLU: SiLU of one half times the other half, or of two tensors."""
import torch
import torch.nn.functional as F

from npufuse.rule import contiguous, rule, rand, torch_npu, unclamped

rule(
    id="swiglu",
    family="swiglu",
    operator="npu_swiglu",
    priority="high",
    gain="SiLU and the product become one kernel; backward becomes one too",
    risks_of=(
        "gate: two separate tensors are concatenated first: one more copy of both, "
        "which may cost what the fusion gains; measure it",
        "swapped: the halves are put in the other order first: one more copy",
    ),
    risks=("the activated half is not rounded before the product",),
)


def reference(x=None, gate=None, up=None, *, swapped=False):
    """x (..., 2d) packed, or gate and up (..., d). The gate is activated.

    swapped: the second half of x is the gate.
    """
    if x is not None:
        if swapped:
            up, gate = x.chunk(2, dim=-1)
        else:
            gate, up = x.chunk(2, dim=-1)
    return F.silu(gate) * up


def replacement(x=None, gate=None, up=None, *, swapped=False):
    if x is not None:
        if swapped:
            up, gate = x.chunk(2, dim=-1)
            return torch_npu.npu_swiglu(torch.cat([gate, up], dim=-1), dim=-1)
        return torch_npu.npu_swiglu(contiguous(x), dim=-1)
    # The first half is the activated one.
    return torch_npu.npu_swiglu(torch.cat([gate, up], dim=-1), dim=-1)


def requires(x=None, gate=None, up=None):
    if x is not None:
        # chunk() gives unequal parts of an odd axis.
        assert x.shape[-1] % 2 == 0, "the packed axis has an even size"
        assert x.numel() > 0, "the input is not empty"
    else:
        assert gate.shape == up.shape, "gate and up have the same shape"
        assert unclamped(gate), "gate is clamped, and npu_swiglu clamps nothing"
        assert unclamped(up), "up is clamped, and npu_swiglu clamps nothing"
        assert gate.numel() > 0, "the input is not empty"


def sample():
    return dict(x=rand(2, 8, 64), gate=rand(2, 8, 32), up=rand(2, 8, 32))
