"""In-place operators that others see, and a power that computes in float64."""
import torch
import torch.nn.functional as F
from torch import nn


class Keeps(nn.Module):
    def __init__(self, features, hidden):
        super().__init__()
        self.one = nn.Linear(features, hidden)
        self.two = nn.Linear(features, hidden)
        self.three = nn.Linear(hidden, features)
        self.last = None

    def held(self, x, cache):
        return F.silu(cache.latest(x), inplace=True) * self.two(x)  # expect: swiglu caution

    def named(self, x):
        gate = self.one(x)
        y = F.silu(gate, inplace=True) * self.two(x)  # expect: swiglu caution
        return y + gate

    def raises(self, up):
        up += 1
        return up

    def beside(self, x):
        up = self.two(x)
        # The call changes `up` after the product has read it.
        return F.silu(self.one(x)) * up + self.raises(up)  # expect: swiglu caution


class Wide(nn.Module):
    def __init__(self, features, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(features))
        self.eps = eps

    def forward(self, x):
        mean = torch.mean(torch.float_power(x, 2), -1, keepdim=True)
        return x * torch.rsqrt(mean + self.eps) * self.weight  # clean: float64

    def method(self, x):
        mean = x.float_power(2).mean(-1, keepdim=True)
        return x * torch.rsqrt(mean + self.eps) * self.weight  # clean: float64


class TwoKinds(nn.Module):
    def __init__(self, features, hidden):
        super().__init__()
        self.one = nn.Linear(features, hidden)
        self.two = nn.Linear(features, 1)

    def forward(self, x):
        return F.silu(self.one(x)) * self.two(x)  # expect: swiglu caution
