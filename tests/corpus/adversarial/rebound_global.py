"""A module-level name that is bound more than once."""
import torch
import torch.nn.functional as F

act = F.silu
act = torch.tanh

try:
    from fast_kernels import gate_fn
except ImportError:
    gate_fn = F.silu

chosen = F.silu


def choose(kind):
    global chosen
    chosen = {"relu": F.relu}[kind]


def twice(gate, up):
    return act(gate) * up  # clean: tanh in the end


def imported(gate, up):
    return gate_fn(gate) * up  # allow: swiglu caution


def by_global(gate, up):
    return chosen(gate) * up  # clean: choose() may bind another function
