"""GELUs that are not the operator's."""
import torch
import torch.nn.functional as F


def constant(gate, up):
    return 0.5 * gate * (1 + torch.erf(gate / 1.5)) * up  # clean: 1.5 instead of sqrt(2)


def half_missing(gate, up):
    return gate * (1 + torch.erf(gate / 2 ** 0.5)) * up  # clean: no factor 0.5


def approximate_given(gate, up, approximate):
    # Which one it is, is asked at run time.
    return F.gelu(gate, approximate=approximate) * up  # expect: geglu recommend


def tanh_constant(gate, up):
    inner = 0.7 * (gate + 0.044715 * gate.pow(3))
    return 0.5 * gate * (1 + torch.tanh(inner)) * up  # clean: 0.7 instead of sqrt(2 / pi)


def added(gate, up):
    return F.gelu(gate) + up  # clean: a sum


def exact(gate, up):
    return F.gelu(gate) * up  # expect: geglu recommend|caution


def tanh(gate, up):
    return F.gelu(gate, approximate="tanh") * up  # expect: geglu recommend|caution
