"""Constants of the class, and properties."""
import torch
from torch import nn
from torch.nn import functional as F


class ClassEps(nn.Module):
    eps = 1e-6

    def __init__(self, dim):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.scale  # expect: rms_norm recommend


class ClassAct(nn.Module):
    act = nn.SiLU()

    def __init__(self, d, h):
        super().__init__()
        self.a, self.b = nn.Linear(d, h), nn.Linear(d, h)

    def forward(self, x):
        return self.act(self.a(x)) * self.b(x)  # expect: swiglu recommend|caution


class PropertyAct(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.a, self.b = nn.Linear(d, h), nn.Linear(d, h)

    @property
    def act(self):
        return F.silu

    def forward(self, x):
        return self.act(self.a(x)) * self.b(x)  # expect: swiglu recommend|caution
