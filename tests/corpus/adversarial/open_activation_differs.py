"""Callables that nothing in sight makes an activation."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class NoCaller(nn.Module):
    def __init__(self, width, act):
        super().__init__()
        self.both = nn.Linear(width, 2 * width)
        self.act = act

    def forward(self, x):
        gate, up = self.both(x).chunk(2, dim=-1)
        return self.act(gate) * up  # clean: nobody gives it


class Others(nn.Module):
    def __init__(self, width, act):
        super().__init__()
        self.both = nn.Linear(width, 2 * width)
        self.act = act

    def forward(self, x):
        gate, up = self.both(x).chunk(2, dim=-1)
        return self.act(gate) * up  # clean: relu or tanh


def others(width, kind):
    return Others(width, F.relu) if kind else Others(width, torch.tanh)


class Norm(nn.Module):
    def __init__(self, width, norm):
        super().__init__()
        self.norm = norm(width)
        self.scale = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return self.norm(x) * self.scale  # clean: a norm


def norms(width, kind):
    return Norm(width, nn.LayerNorm) if kind else Norm(width, nn.Identity)


class OfTorch(nn.Module):
    def __init__(self, width, name):
        super().__init__()
        self.both = nn.Linear(width, 2 * width)
        self.act = getattr(torch, name)

    def forward(self, x):
        gate, up = self.both(x).chunk(2, dim=-1)
        return self.act(gate) * up  # clean: torch itself has no silu


def handed(x, fn):
    gate, up = x.chunk(2, dim=-1)
    return fn(gate) * up  # clean: any function
