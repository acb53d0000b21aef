"""GEGLU in the usual spellings."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class GEGLU(nn.Module):
    def forward(self, x):
        x, gates = x.chunk(2, dim=-1)
        return x * F.gelu(gates)  # expect: geglu recommend


class Projected(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.proj = nn.Linear(d, 2 * h)
        self.act = nn.GELU(approximate="tanh")

    def forward(self, x):
        a, b = self.proj(x).chunk(2, dim=-1)
        return self.act(a) * b  # expect: geglu recommend


class TwoLinears(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.wi_0, self.wi_1, self.wo = nn.Linear(d, h), nn.Linear(d, h), nn.Linear(h, d)
        self.act = nn.GELU()

    def forward(self, x):
        return self.wo(self.act(self.wi_0(x)) * self.wi_1(x))  # expect: geglu recommend


class ByArgument(nn.Module):
    def __init__(self, d, h, act_layer=nn.GELU):
        super().__init__()
        self.a, self.b = nn.Linear(d, h), nn.Linear(d, h)
        self.act = act_layer()

    def forward(self, x):
        return self.act(self.a(x)) * self.b(x)  # expect: geglu recommend|caution
