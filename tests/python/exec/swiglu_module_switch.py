"""The project has a switch among the constants of the module, from the environment."""
import os

import torch
from torch import nn
from torch.nn import functional as F

EXPECT = {"swiglu": 1}
USE_FUSED_SWIGLU = os.environ.get("USE_FUSED_SWIGLU", "0") == "1"
FUSED_GLU_SIZE = 16  # no switch: a number


class Gated(nn.Module):
    def __init__(self):
        super().__init__()
        self.both = nn.Linear(16, 48)

    def forward(self, x):
        gate, up = self.both(x).chunk(2, dim=-1)
        return F.silu(gate) * up


def make():
    return Gated()


def enable(made):
    """Turns the project's own switch on."""
    type(made).forward.__globals__["USE_FUSED_SWIGLU"] = True


def inputs(dtype):
    return [(torch.randn(2, 3, FUSED_GLU_SIZE).to(dtype),)]
