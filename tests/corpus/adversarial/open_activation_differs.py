"""Callables that nothing in sight makes an activation."""
import torch
import torch.nn as nn
import torch.nn.functional as F


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


def unrelated(x, y, fn):
    return fn(x) * y  # clean: two tensors, no gate and value of one


def itself(x, fn):
    return fn(x) * x  # clean: any function of one tensor


def thirds(x, fn):
    a, b, c = x.chunk(3, dim=-1)
    return fn(a) * b + c  # clean: no halves


def twice(x, fn):
    gate, up = x.chunk(2, dim=-1)
    return fn(gate) * gate + up  # clean: one half alone


def of_results(x, f, fn):
    a, b = f(x)
    return fn(a) * b  # clean: what f gives may be anything


class KnownNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.both = nn.Linear(width, 2 * width)
        self.norm = nn.LayerNorm(width)
        self.act = nn.Tanh()

    def forward(self, x):
        gate, up = self.both(x).chunk(2, dim=-1)
        gate = self.norm(gate) * up  # clean: a norm
        return self.act(gate) * up  # clean: tanh


class Mixed(nn.Module):
    def __init__(self, width, act):
        super().__init__()
        self.gate = nn.Linear(width, width)
        self.up = nn.Linear(width, width)
        self.act = act

    def forward(self, x, y):
        return self.act(self.gate(x)) * self.up(y)  # clean: of two inputs


class GivenTanh(nn.Module):
    def __init__(self, width, act=torch.tanh):
        super().__init__()
        self.both = nn.Linear(width, 2 * width)
        self.act = act

    def forward(self, x):
        gate, up = self.both(x).chunk(2, dim=-1)
        return self.act(gate) * up  # clean: the default is tanh, and the only caller's relu


def given_relu(width):
    return GivenTanh(width, F.relu)
