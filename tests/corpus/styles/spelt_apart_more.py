"""Class attributes, where as a method, parts changed one by one, experts by name."""
import torch
import torch.nn.functional as F
from torch import nn


class Base(nn.Module):
    activation = staticmethod(F.silu)

    def __init__(self, d, h):
        super().__init__()
        self.both = nn.Linear(d, 2 * h, bias=False)

    def forward(self, x):
        a, b = self.both(x).chunk(2, -1)
        return self.activation(a) * b  # expect: swiglu recommend


def chosen_by_method(q, k, v):
    n = q.shape[-2]
    scores = torch.matmul(q, k.mT) * q.shape[-1] ** -0.5
    seen = torch.ones((n, n), dtype=torch.bool, device=q.device).tril()
    scores = scores.where(seen, torch.full_like(scores, float("-inf")))
    return scores.softmax(-1) @ v  # expect: attention caution


def one_part_changed(x, y):
    gate, up = x.chunk(2, -1)
    gate = F.silu(gate)
    spare, rest = y.chunk(2, -1)
    rest.mul_(2)
    return gate * up  # expect: swiglu recommend


def another_half_changed(x, w):
    low, high = x.chunk(2, -1)
    scale = torch.rsqrt(low.pow(2).mean(-1, keepdim=True) + 1e-6)
    high.mul_(3)
    return low * scale * w  # expect: rms_norm recommend


class ByName(nn.Module):
    def __init__(self, n, d, experts):
        super().__init__()
        self.choose = nn.Linear(d, n)
        self.experts = nn.ModuleDict({str(i): e for i, e in enumerate(experts)})

    def forward(self, x):
        chances = self.choose(x).softmax(-1)
        share, which = chances.max(dim=-1)
        y = x.clone()
        for name, expert in self.experts.items():  # expect: moe caution
            own = which == int(name)
            y[own] = expert(x[own]) * share[own].unsqueeze(-1)
        return y
