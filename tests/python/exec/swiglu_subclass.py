"""A subclass stores another activation: the written code must notice."""
import torch
from torch import nn

EXPECT = {"swiglu": 1}


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate, self.up = nn.Linear(16, 24), nn.Linear(16, 24)
        self.act = nn.SiLU()

    def forward(self, x):
        return self.act(self.gate(x)) * self.up(x)


class TanhMlp(Mlp):
    def __init__(self):
        super().__init__()
        self.act = nn.Tanh()


class Both(nn.Module):
    def __init__(self):
        super().__init__()
        self.plain, self.other = Mlp(), TanhMlp()

    def forward(self, x, plain=True):
        return self.plain(x) if plain else self.other(x)


def make():
    return Both()


def inputs(dtype):
    return [(torch.randn(2, 3, 16).to(dtype), True)]


def excluded(dtype):
    return [(torch.randn(2, 3, 16).to(dtype), False)]
