"""GEGLU: GELU of one half times the other half, or of two tensors."""
import torch
import torch.nn.functional as F

from npufuse.rule import rule, rand, torch_npu

rule(
    id="geglu",
    family="geglu",
    operator="npu_geglu",
    priority="medium",
    gain="GELU and the product become one kernel; backward becomes one too",
    risks_of=(
        "gate: two separate tensors are concatenated first: one more copy of both, "
        "which may cost what the fusion gains; measure it",
    ),
    risks=("the activated half is not rounded before the product",),
)


def reference(
    x=None, gate=None, up=None, kind: str = None, *, swapped=False, tanh=False
):
    """x (..., 2d) packed, or gate and up (..., d). The gate is activated.

    swapped: the second half of x is the gate; tanh: the approximate GELU;
    kind: "none" or "tanh", where run time decides which.
    """
    if x is not None:
        if swapped:
            up, gate = x.chunk(2, dim=-1)
        else:
            gate, up = x.chunk(2, dim=-1)
    if kind is not None:
        return F.gelu(gate, approximate=kind) * up
    if tanh:
        return F.gelu(gate, approximate="tanh") * up
    return F.gelu(gate) * up


def replacement(
    x=None, gate=None, up=None, kind: str = None, *, swapped=False, tanh=False
):
    # The operator activates the right half unless it is told otherwise, and
    # its default is the tanh form: both are always passed.
    if kind is not None:
        approximate = 1 if kind == "tanh" else 0
    else:
        approximate = 1 if tanh else 0
    if x is not None:
        if swapped:
            return torch_npu.npu_geglu(
                x, dim=-1, approximate=approximate, activate_left=False
            )[0]
        return torch_npu.npu_geglu(
            x, dim=-1, approximate=approximate, activate_left=True
        )[0]
    return torch_npu.npu_geglu(
        torch.cat([gate, up], dim=-1),
        dim=-1,
        approximate=approximate,
        activate_left=True,
    )[0]


def requires(x=None, gate=None, up=None, kind: str = None):
    if kind is not None:
        assert kind in ("none", "tanh"), "the kind of GELU is 'none' or 'tanh'"
    if x is not None:
        # chunk() gives unequal parts of an odd axis.
        assert x.shape[-1] % 2 == 0, "the packed axis has an even size"
    else:
        assert gate.shape == up.shape, "gate and up have the same shape"


def sample():
    return dict(x=rand(2, 8, 64), gate=rand(2, 8, 32), up=rand(2, 8, 32), kind="tanh")
