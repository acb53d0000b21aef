"""SiLU without its name."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Swish(nn.Module):
    def forward(self, x):
        return x * torch.sigmoid(x)


class SwishBeta(nn.Module):
    def __init__(self, beta=1.0):
        super().__init__()
        self.beta = beta

    def forward(self, x):
        return x * torch.sigmoid(self.beta * x)


class Glu(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.a, self.b, self.c = nn.Linear(d, h), nn.Linear(d, h), nn.Linear(h, d)
        self.act = Swish()

    def forward(self, x):
        return self.c(self.act(self.a(x)) * self.b(x))  # expect: swiglu recommend


class GluBeta(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.a, self.b, self.c = nn.Linear(d, h), nn.Linear(d, h), nn.Linear(h, d)
        self.act = SwishBeta()

    def forward(self, x):
        return self.c(self.act(self.a(x)) * self.b(x))  # allow: swiglu recommend|caution


def exponential(g, u):
    return g / (1 + torch.exp(-g)) * u  # expect: swiglu recommend|caution


def three_factors(g, u):
    return g * u * torch.sigmoid(g)  # expect: swiglu recommend|caution


def module_call(g, u):
    return nn.SiLU()(g) * u  # expect: swiglu recommend|caution


def functional_sigmoid(g, u):
    return torch.mul(g.mul(F.sigmoid(g)), u)  # expect: swiglu recommend|caution


def aten(g, u):
    return torch.ops.aten.silu(g) * u  # expect: swiglu recommend|caution


def inplace(x, lin):
    h = lin(x)
    g, u = h.chunk(2, -1)
    return F.silu(g, inplace=True) * u  # expect: swiglu recommend|caution
