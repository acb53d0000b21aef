"""Branches whose test does not say which activation runs."""
import torch
import torch.nn.functional as F
from torch import nn


class Base(nn.Module):
    def __init__(self, width, inner, kind, fast):
        super().__init__()
        self.gate = nn.Linear(width, inner)
        self.up = nn.Linear(width, inner)
        self.kind = kind
        self.fast = fast


class AnotherTestInFront(Base):
    def forward(self, x):
        gate = self.gate(x)
        if self.fast:
            y = F.relu(gate)
        elif self.kind == "silu":
            y = F.silu(gate)
        else:
            y = F.gelu(gate)
        return y * self.up(x)  # clean: fast decides first


class ByData(Base):
    def forward(self, x):
        gate = self.gate(x)
        y = F.silu(gate) if gate.max() > 3 else F.relu(gate)
        return y * self.up(x)  # clean: the data decides


class NoSilu(Base):
    def forward(self, x):
        gate = self.gate(x)
        y = torch.tanh(gate) if self.kind == "silu" else F.relu(gate)
        return y * self.up(x)  # clean: neither is one


class OfAnotherPass(Base):
    def forward(self, parts):
        total = 0
        for i, x in enumerate(parts):
            gate = self.gate(x)
            if i == 0:
                y = F.silu(gate)
            total = total + y * self.up(x)  # clean: y is that of the first pass
        return total


kind = "relu"


class TheModulesOwn(Base):
    def forward(self, x):
        global y
        if self.fast:
            y = F.silu(self.gate(x))
        return y * self.up(x)  # clean: y may be what another call left


def two_handlers(x, up):
    try:
        y = F.silu(x)
    except ValueError:
        y = F.relu(x)
    except TypeError:
        pass
    return y * up  # clean: either may have run


def kinds_of_gelu(x, y, up, short):
    act = F.gelu(x) if short else F.gelu(y, approximate="tanh")
    return act * up  # clean: two kinds of gelu


def one_arm_without(x, y, up, short):
    act = F.silu(x) if short else y
    return act * up  # clean: no activation in one branch
