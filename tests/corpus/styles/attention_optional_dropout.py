"""A module that is made or is None is what was made where it is called."""
import math

import torch
import torch.nn.functional as F
from torch import nn


class InAnExpression(nn.Module):
    def __init__(self, width, heads, dropout=0.0):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(width, width) for _ in range(3))
        self.heads = heads
        self.drop = nn.Dropout(dropout) if dropout else None

    def fold(self, x):
        b, n, d = x.shape
        wide = d // self.heads
        return x.reshape(b, n, self.heads, wide).transpose(1, 2).reshape(b * self.heads, n, wide)

    def forward(self, x, y):
        q, k = self.fold(self.q(x)), self.fold(self.k(y))
        w = F.softmax(q @ k.transpose(1, 2) / math.sqrt(k.shape[-1]), dim=-1)
        if self.drop is not None:
            w = self.drop(w)
        return w @ self.fold(self.v(y))  # expect: attention recommend


class InBranches(nn.Module):
    def __init__(self, p, scale):
        super().__init__()
        if p > 0:
            self.drop = nn.Dropout(p)
        else:
            self.drop = None
        self.scale = float(scale)

    def forward(self, q, k, v):
        w = torch.matmul(q, k.transpose(-2, -1)) * self.scale
        w = w.softmax(dim=-1)
        w = w if self.drop is None else self.drop(w)
        return torch.matmul(w, v)  # expect: attention recommend


class Gate(nn.Module):
    def __init__(self, width, gated):
        super().__init__()
        self.up, self.gate = nn.Linear(width, width), nn.Linear(width, width)
        self.act = nn.SiLU() if gated else None

    def forward(self, x):
        if self.act is None:
            return self.up(x)
        return self.act(self.gate(x)) * self.up(x)  # expect: swiglu recommend
