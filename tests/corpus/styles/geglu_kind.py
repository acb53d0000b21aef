"""The kind of GELU is a string that run time decides."""
import torch.nn.functional as F
from torch import nn


class BySetting(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.gate, self.up = nn.Linear(8, 16), nn.Linear(8, 16)

    def forward(self, x):
        gate = self.gate(x)
        return F.gelu(gate, approximate=self.config.kind) * self.up(x)  # expect: geglu recommend


class ByArgument(nn.Module):
    def __init__(self, width, kind="none"):
        super().__init__()
        self.both = nn.Linear(width, 2 * width)
        self.kind = kind

    def forward(self, x):
        value, gate = self.both(x).chunk(2, dim=-1)
        return value * F.gelu(gate, approximate=self.kind)  # expect: geglu recommend


def at_call(gate, up, kind="tanh"):
    return F.gelu(gate, approximate=kind) * up  # expect: geglu recommend


class Made(nn.Module):
    def __init__(self, width, config):
        super().__init__()
        self.gate, self.up = nn.Linear(width, width), nn.Linear(width, width)
        self.act = nn.GELU(approximate=config.kind)

    def forward(self, x):
        return self.act(self.gate(x)) * self.up(x)  # expect: geglu recommend|caution


class Constant(nn.Module):
    def forward(self, gate, up):
        return F.gelu(gate, approximate="tanh") * up  # expect: geglu recommend
