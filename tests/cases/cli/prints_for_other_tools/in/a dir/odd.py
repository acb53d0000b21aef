import torch
from torch.nn import functional as F


def clamped(gate, up):
    return F.silu(gate.clamp(max=7.0)) * up
