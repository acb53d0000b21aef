"""GELU written out, with nothing beside it."""
import math

import torch
import torch.nn.functional as F
from torch import nn


def exact(x):
    return x * 0.5 * (1.0 + torch.erf(x / math.sqrt(2.0)))  # expect: gelu recommend


def exact_by_steps(x):
    cdf = x / 1.41421
    cdf = torch.erf(cdf)
    cdf = 0.5 * (1.0 + cdf)
    return x * cdf  # expect: gelu recommend


def exact_in_place(x):
    cdf = torch.special.erf(x * 0.70710678)
    return cdf.add_(1).mul_(0.5).mul(x)  # expect: gelu recommend


class NewGELU(nn.Module):
    def forward(self, input):
        inner = math.sqrt(2.0 / math.pi) * (input + 0.044715 * torch.pow(input, 3.0))
        return 0.5 * input * (1.0 + torch.tanh(inner))  # expect: gelu recommend


class Factored(nn.Module):
    def forward(self, x):
        y = 0.7978845608 * x * (1 + 0.044715 * x * x)
        return x * 0.5 * (1 + y.tanh())  # expect: gelu recommend


class InFloat32(nn.Module):
    def forward(self, x):
        h = x.float()
        h = 0.5 * h * (1 + torch.erf(h * 2 ** -0.5))
        return h.to(x.dtype)  # expect: gelu recommend


class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.up, self.down = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)

    def forward(self, x):
        h = self.up(x)
        h = h * 0.5 * (1.0 + torch.erf(h / math.sqrt(2.0)))  # expect: gelu recommend
        return self.down(h)


class Built(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.act = nn.GELU()
        self.up = nn.Linear(d, d)

    def forward(self, x):
        return self.act(self.up(x))  # clean: torch's own gelu is one kernel


def built(x):
    return F.gelu(x, approximate="tanh")  # clean: torch's own gelu is one kernel
