"""Attributes that one branch of the constructor stores: where they are read at
all, they are that."""
import torch
from torch import nn
from torch.nn import functional as F


class PerLayerInput(nn.Module):
    def __init__(self, dim, inner, per_layer):
        super().__init__()
        self.per_layer = per_layer
        if self.per_layer:
            self.act = nn.SiLU()
            self.gate = nn.Linear(dim, inner)
            self.up = nn.Linear(dim, inner)

    def forward(self, x):
        if self.per_layer:
            y = self.gate(x)
            y = self.act(y)
            x = y * self.up(x)  # expect: swiglu recommend
        return x


class Tried(nn.Module):
    def __init__(self, dim, inner, per_layer):
        super().__init__()
        if per_layer:
            if inner:
                self.act = nn.GELU(approximate="tanh")
                self.gate = nn.Linear(dim, inner)
                self.up = nn.Linear(dim, inner)

    def forward(self, x):
        return self.act(self.gate(x)) * self.up(x)  # expect: geglu recommend|caution
