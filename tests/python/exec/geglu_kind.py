"""GEGLU whose kind of GELU is a setting."""
import torch
import torch.nn.functional as F
from torch import nn

EXPECT = {"geglu": 2}


class Settings:
    def __init__(self, kind):
        self.approximate = kind


class GatedByKind(nn.Module):
    def __init__(self, settings):
        super().__init__()
        self.settings = settings
        self.gate = nn.Linear(16, 24)
        self.up = nn.Linear(16, 24)
        self.both = nn.Linear(24, 32)

    def forward(self, x):
        gate = self.gate(x)
        y = F.gelu(gate, approximate=self.settings.approximate) * self.up(x)
        a, b = self.both(y).chunk(2, dim=-1)
        return a * F.gelu(b, approximate=self.settings.approximate)


def make():
    return GatedByKind(Settings("tanh"))


def inputs(dtype):
    return [(torch.randn(2, 3, 16).to(dtype),)]
