"""Attention that two functions compute together: the scores come by a parameter."""
import math

import torch
from torch import nn


def finish(scores, v):
    return torch.softmax(scores, dim=-1) @ v  # expect: attention caution


def start(q, k, v, width):
    return finish(q @ k.transpose(-2, -1) / math.sqrt(width), v)


def blend(weights, v):
    return torch.matmul(weights, v)


def weigh_here(q, k, v, mask):
    weights = torch.softmax(q @ k.transpose(-2, -1) * 0.125 + mask, dim=-1)  # expect: attention caution
    return blend(weights, v)  # expect: attention caution


class Head(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.width = width // heads
        self.heads = heads
        self.drop = nn.Dropout(0.1)
        self.out = nn.Linear(width, width)

    def gather(self, value, scores, keep):
        if keep is not None:
            hidden = keep.unsqueeze(1).eq(0)
            scores = scores.masked_fill(hidden, -float("inf"))  # expect: attention caution
            probs = torch.softmax(scores, dim=-1).masked_fill(hidden, 0.0)
        else:
            probs = torch.softmax(scores, dim=-1)
        mixed = torch.matmul(self.drop(probs), value)  # expect: attention caution
        mixed = mixed.transpose(1, 2).reshape(value.size(0), -1, self.heads * self.width)
        return self.out(mixed)

    def forward(self, q, k, v, keep=None):
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(self.width)
        return self.gather(v, scores, keep), None


class BiasedHead(Head):
    """Another caller of the helper that it inherits; its scores have a bias."""

    def __init__(self, width, heads):
        super().__init__(width, heads)
        self.slope = nn.Parameter(torch.zeros(heads, 1, 1))

    def forward(self, q, k, v, keep=None):
        near = torch.matmul(q, k.transpose(-2, -1))
        return self.gather(v, (near + self.slope) / math.sqrt(self.width), keep)


class Nested(nn.Module):
    def forward(self, q, k, v):
        def mix(scores):
            return torch.softmax(scores, dim=-1) @ v  # allow: attention caution|recommend

        return mix(q @ k.transpose(-2, -1))


class Turner:
    """The pairs are made complex by the caller."""

    def turn(self, table, x):
        return torch.view_as_real(x * table).flatten(3)  # expect: rope caution

    def turn_both(self, q, k, table):
        q = torch.view_as_complex(q.reshape(*q.shape[:-1], -1, 2))
        k = torch.view_as_complex(k.reshape(*k.shape[:-1], -1, 2))
        return self.turn(table, q), self.turn(table, k)


class Router(nn.Module):
    """The logits of a layer go to a method that chooses."""

    def __init__(self, width, experts):
        super().__init__()
        self.score = nn.Linear(width, experts)

    def choose(self, logits):
        weights = torch.softmax(logits, dim=-1)  # expect: moe caution
        weights, chosen = torch.topk(weights, 2, dim=-1)
        return weights, chosen

    def forward(self, x):
        return self.choose(self.score(x))
