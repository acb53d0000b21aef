"""Functions that are replaced when the module is loaded."""
import torch
import torch.nn.functional as F

_silu = F.silu


def quiet_silu(x, inplace=False):
    return torch.tanh(x)


F.silu = quiet_silu


def patched(gate, up):
    return F.silu(gate) * up  # clean: F.silu was replaced above


def kept(gate, up):
    return _silu(gate) * up  # clean: bound while F.silu was whole, but that is not followed
