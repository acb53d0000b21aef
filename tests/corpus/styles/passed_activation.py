"""The activation is an argument with a default."""
import torch.nn as nn
import torch.nn.functional as F


class ByInstance(nn.Module):
    def __init__(self, d, h, act=nn.SiLU()):
        super().__init__()
        self.a, self.b = nn.Linear(d, h), nn.Linear(d, h)
        self.act = act

    def forward(self, x):
        return self.act(self.a(x)) * self.b(x)  # expect: swiglu recommend|caution


class ByClass(nn.Module):
    def __init__(self, d, h, act_layer=nn.SiLU):
        super().__init__()
        self.a, self.b = nn.Linear(d, h), nn.Linear(d, h)
        self.act = act_layer()

    def forward(self, x):
        return self.act(self.a(x)) * self.b(x)  # expect: swiglu recommend|caution


class ByFunction(nn.Module):
    def __init__(self, d, h, act=F.silu):
        super().__init__()
        self.a, self.b = nn.Linear(d, h), nn.Linear(d, h)
        self.act = act

    def forward(self, x):
        return self.act(self.a(x)) * self.b(x)  # expect: swiglu recommend|caution


class Block(nn.Module):
    """Callers agree: the argument is SiLU."""

    def __init__(self, d, h):
        super().__init__()
        self.mlp = Inner(d, h, F.silu)

    def forward(self, x):
        return x + self.mlp(x)


class Inner(nn.Module):
    def __init__(self, d, h, act):
        super().__init__()
        self.a, self.b = nn.Linear(d, h), nn.Linear(d, h)
        self.act = act

    def forward(self, x):
        return self.act(self.a(x)) * self.b(x)  # expect: swiglu recommend|caution


def at_call(g, u, act=F.silu):
    return act(g) * u  # expect: swiglu recommend|caution
