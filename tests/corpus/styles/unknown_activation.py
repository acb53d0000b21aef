"""Gated units whose activation nothing in sight tells: the form alone tells that it is one."""
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
        return self.act(gate) * up  # expect: swiglu caution


def handed(x, fn):
    gate, up = x.chunk(2, dim=-1)
    return up * fn(gate)  # expect: swiglu caution


def rows(w_in, w_out, activation, x):
    x = F.linear(x, w_in)
    x = x.view(x.shape[0], x.shape[1], 2, -1)
    x = activation(x[..., 0, :]) * x[..., 1, :]  # expect: swiglu caution
    return F.linear(x, w_out)


def packed(x, w1, v1, w2, activation):
    a = x.matmul(w1.t())
    b = x.matmul(v1.t())
    a = activation(a)
    a *= b  # expect: swiglu caution
    return a.matmul(w2)


class Base(nn.Module):
    def __init__(self, fn):
        super().__init__()
        self.fn = fn

    def forward(self, x):
        a, b = x.chunk(2, dim=(x.ndim - 1))
        return a * self.fn(b)  # expect: swiglu caution


class WithSilu(Base):
    def __init__(self):
        super().__init__(F.silu)


class Built(nn.Module):
    def __init__(self, width, kind):
        super().__init__()
        self.w1 = nn.Linear(width, 2 * width)
        self.w2 = nn.Linear(width, 2 * width)
        self.fn = kind.build()

    def forward(self, x):
        return self.fn(self.w1(x)) * self.w2(x)  # expect: swiglu caution


class Table(nn.Module):
    def __init__(self, width, table, config):
        super().__init__()
        self.w1 = nn.Linear(width, 2 * width)
        self.w2 = nn.Linear(width, 2 * width)
        self.fn = table[config.kind]

    def forward(self, x):
        return self.fn(self.w1(x)) * self.w2(x)  # expect: swiglu caution


def of_layer(layer, x):
    gate, up = layer.both(x).chunk(2, dim=-1)
    return layer.act(gate) * up  # expect: swiglu caution
