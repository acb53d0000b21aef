"""GELU written out, as factor of a gated product."""
import math

import numpy as np
import torch
from torch import nn


def bert_new(gate, up):
    return 0.5 * gate * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (gate + 0.044715 * torch.pow(gate, 3.0)))) * up  # expect: geglu recommend


def nested(gate, up):
    act = gate * 0.5 * (1.0 + torch.tanh(gate * 0.7978845608 * (1.0 + 0.044715 * gate * gate)))
    return up * act  # expect: geglu recommend


def numpy_pi(gate, up):
    cdf = 0.5 * (1.0 + torch.tanh(np.sqrt(2 / np.pi) * (gate + 0.044715 * gate ** 3)))
    return gate * cdf * up  # expect: geglu recommend


def exact(gate, up):
    return gate * 0.5 * (1.0 + torch.erf(gate / math.sqrt(2.0))) * up  # expect: geglu recommend


def exact_by_square_root(gate, up):
    return 0.5 * gate * (torch.erf(gate * 2 ** -0.5) + 1) * up  # expect: geglu recommend


class Act(nn.Module):
    def forward(self, x):
        return 0.5 * x * (1 + torch.tanh(0.79788456 * (x + 0.044715 * x * x * x)))  # expect: gelu recommend


class Gated(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.wi_0 = nn.Linear(d, h, bias=False)
        self.wi_1 = nn.Linear(d, h, bias=False)
        self.act = Act()

    def forward(self, x):
        gelu = self.act(self.wi_0(x))
        linear = self.wi_1(x)
        return gelu * linear  # expect: geglu recommend
