"""GELU written out: by the error function, or by its approximation with tanh."""
import torch

from npufuse.rule import rule, rand, torch_npu

rule(
    id="gelu",
    family="gelu",
    operator="npu_gelu",
    priority="low",
    within=("geglu",),
    gain="5 to 9 elementwise kernels become one; backward becomes one too",
    risks=(
        "torch's own gelu is one kernel too and needs no operator of torch_npu: "
        "torch.nn.functional.gelu of the same kind is the portable way",
    ),
)


def reference(x, *, tanh=False):
    """tanh: the approximation. Both only where they are written out: a call of
    torch's own gelu is one kernel already, and no root of this rule."""
    if tanh:  # sqrt(2 / pi)
        inner = 0.7978845608028654 * (x + 0.044715 * x ** 3)
        return 0.5 * x * (1.0 + torch.tanh(inner))
    return 0.5 * x * (1.0 + torch.erf(x / 1.4142135623730951))


def replacement(x, *, tanh=False):
    if tanh:
        return torch_npu.npu_gelu(x, approximate="tanh")
    return torch_npu.npu_gelu(x, approximate="none")


def requires(x):
    pass


def sample():
    return dict(x=rand(2, 8, 64))
