"""Activations that only callers or a name decide: SiLU is one of them."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class TwoCallers(nn.Module):
    def __init__(self, width, act):
        super().__init__()
        self.both = nn.Linear(width, 2 * width)
        self.act = act

    def forward(self, x):
        gate, up = self.both(x).chunk(2, dim=-1)
        return self.act(gate) * up  # expect: swiglu caution


def build(width, kind):
    if kind == "relu":
        return TwoCallers(width, F.relu)
    return TwoCallers(width, F.silu)


def pick(name):
    if name in ("sigmoid", "tanh"):
        return getattr(torch, name)
    return getattr(torch.nn.functional, name)


class ByName(nn.Module):
    def __init__(self, width, activation):
        super().__init__()
        self.both = nn.Linear(width, 2 * width)
        self.activation = activation

    def forward(self, x):
        gate, up = self.both(x).chunk(2, dim=-1)
        return self.activation(gate) * up  # expect: swiglu caution


def by_name(width, name):
    return ByName(width, pick(name))


class ByClass(nn.Module):
    def __init__(self, width, layer):
        super().__init__()
        self.both = nn.Linear(width, 2 * width)
        self.act = layer()

    def forward(self, x):
        gate, up = self.both(x).chunk(2, dim=-1)
        return self.act(gate) * up  # expect: swiglu caution


def classes(width, kind):
    return ByClass(width, nn.ReLU) if kind else ByClass(width, nn.SiLU)


class Gelu(nn.Module):
    def __init__(self, width, act):
        super().__init__()
        self.both = nn.Linear(width, 2 * width)
        self.act = act

    def forward(self, x):
        gate, up = self.both(x).chunk(2, dim=-1)
        return self.act(gate) * up  # expect: geglu caution


def gelus(width, kind):
    return Gelu(width, F.relu) if kind else Gelu(width, F.gelu)


class Attribute(nn.Module):
    def __init__(self, width, act):
        super().__init__()
        self.both = nn.Linear(width, 2 * width)
        self.act = getattr(F, act)

    def forward(self, x):
        gate, up = self.both(x).chunk(2, dim=-1)
        return self.act(gate) * up  # expect: swiglu caution
