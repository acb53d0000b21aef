"""Activations that only callers or a name decide: SiLU is one of them."""
import copy
import functools

import torch
import torch.nn as nn
import torch.nn.functional as F


class TwoCallers(nn.Module):
    def __init__(self, width, act):
        super().__init__()
        self.both = nn.Linear(width, 2 * width)
        self.act = act

    def forward(self, x):
        gate, up = self.both(x).chunk(2, dim=-1)
        return self.act(gate) * up  # expect: swiglu caution


def build(width, kind):
    if kind == "relu":
        return TwoCallers(width, F.relu)
    return TwoCallers(width, F.silu)


def pick(name):
    if name in ("sigmoid", "tanh"):
        return getattr(torch, name)
    return getattr(torch.nn.functional, name)


class ByName(nn.Module):
    def __init__(self, width, activation):
        super().__init__()
        self.both = nn.Linear(width, 2 * width)
        self.activation = activation

    def forward(self, x):
        gate, up = self.both(x).chunk(2, dim=-1)
        return self.activation(gate) * up  # expect: swiglu caution


def by_name(width, name):
    return ByName(width, pick(name))


class ByClass(nn.Module):
    def __init__(self, width, layer):
        super().__init__()
        self.both = nn.Linear(width, 2 * width)
        self.act = layer()

    def forward(self, x):
        gate, up = self.both(x).chunk(2, dim=-1)
        return self.act(gate) * up  # expect: swiglu caution


def classes(width, kind):
    return ByClass(width, nn.ReLU) if kind else ByClass(width, nn.SiLU)


class Gelu(nn.Module):
    def __init__(self, width, act):
        super().__init__()
        self.both = nn.Linear(width, 2 * width)
        self.act = act

    def forward(self, x):
        gate, up = self.both(x).chunk(2, dim=-1)
        return self.act(gate) * up  # expect: geglu caution


def gelus(width, kind):
    return Gelu(width, F.relu) if kind else Gelu(width, F.gelu)


class Attribute(nn.Module):
    def __init__(self, width, act):
        super().__init__()
        self.both = nn.Linear(width, 2 * width)
        self.act = getattr(F, act)

    def forward(self, x):
        gate, up = self.both(x).chunk(2, dim=-1)
        return self.act(gate) * up  # expect: swiglu caution


# A name out of a dictionary of defaults, and keyword arguments of which nothing is known:
# the default names the activation that is likely.
DEFAULT_ACTIVATION = {"name": "gelu", "approximate": "none"}


def quick(x):
    return x * x


def activation_of(config=None):
    if config is None:
        config = DEFAULT_ACTIVATION
    config = copy.deepcopy(config)
    name = config.pop("name")
    if name == "quick":
        return quick
    return functools.partial(getattr(F, name), **config)


class GivenByDictionary(nn.Module):
    def __init__(self, dim, act):
        super().__init__()
        self.up = nn.Linear(dim, dim)
        self.gate = nn.Linear(dim, dim)
        self.act = act

    def forward(self, x):
        return self.act(self.gate(x)) * self.up(x)  # expect: geglu caution


def build_by_dictionary(dim, config=None):
    return GivenByDictionary(dim, act=activation_of(config))
