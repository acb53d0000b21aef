"""Attributes that one branch of the constructor stores, and something else too."""
import torch
from torch import nn
from torch.nn import functional as F


class Base(nn.Module):
    act = nn.ReLU()

    def __init__(self, dim, inner):
        super().__init__()
        self.gate = nn.Linear(dim, inner)
        self.up = nn.Linear(dim, inner)


class ClassValue(Base):
    def __init__(self, dim, inner, smooth=False):
        super().__init__(dim, inner)
        if smooth:
            self.act = nn.SiLU()

    def forward(self, x):
        return self.act(self.gate(x)) * self.up(x)  # clean: else it is the class's ReLU


class Named(nn.Module):
    def __init__(self, dim, inner, smooth=False):
        super().__init__()
        self.gate = nn.Linear(dim, inner)
        self.up = nn.Linear(dim, inner)
        if smooth:
            self.act = nn.SiLU()
        else:
            self.add_module("act", nn.ReLU())

    def forward(self, x):
        return self.act(self.gate(x)) * self.up(x)  # clean: else it is the ReLU


class Method(nn.Module):
    def __init__(self, dim, inner, smooth=False):
        super().__init__()
        self.gate = nn.Linear(dim, inner)
        self.up = nn.Linear(dim, inner)
        if smooth:
            self.act = nn.SiLU()

    def act(self, x):
        return x.clamp(min=0)

    def forward(self, x):
        return self.act(self.gate(x)) * self.up(x)  # clean: else it is the method


class Looped(nn.Module):
    def __init__(self, dim, inner, kinds):
        super().__init__()
        self.gate = nn.Linear(dim, inner)
        self.up = nn.Linear(dim, inner)
        for kind in kinds:
            self.act = getattr(nn, kind)()

    def forward(self, x):
        return self.act(self.gate(x)) * self.up(x)  # allow: swiglu caution


class Grandparent(nn.Module):
    def __init__(self, dim, inner):
        super().__init__()
        self.act = nn.ReLU()
        self.gate = nn.Linear(dim, inner)
        self.up = nn.Linear(dim, inner)


class Child(Grandparent):
    def __init__(self, dim, inner, smooth=False):
        super().__init__(dim, inner)
        if smooth:
            self.act = nn.SiLU()

    def forward(self, x):
        return self.act(self.gate(x)) * self.up(x)  # clean: else it is the parent's ReLU


class Weight(nn.Module):
    def __init__(self, dim, affine=True):
        super().__init__()
        if affine:
            self.weight = nn.Parameter(torch.ones(dim))
        else:
            self.register_parameter("weight", None)

    def forward(self, x):
        x = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)  # expect: rms_norm recommend
        return x * self.weight if self.weight is not None else x


class WithoutSelf(nn.Module):
    def __init__():
        super().__init__()
        self.act = nn.SiLU()

    def forward(self, x):
        return self.act(self.gate(x)) * self.up(x)  # clean: a constructor that takes nothing
