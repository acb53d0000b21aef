"""Methods of an object that is handed in: its annotation names the class."""
from __future__ import annotations

import math
from typing import Optional

import torch
import torch.nn as nn


class Heads(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.factor = 1 / math.sqrt(width // heads)

    def split(self, x):
        b, n, c = x.shape
        return x.reshape(b, n, self.heads, c // self.heads).transpose(1, 2)

    def probabilities(self, q, k, bias=None):
        scores = q @ k.transpose(-1, -2) * self.factor
        if bias is not None:
            scores = scores + bias
        return torch.softmax(scores.float(), dim=-1).to(q.dtype)


class Processor:
    def __call__(self, heads: Heads, x, bias=None):
        q, k, v = (heads.split(layer(x)) for layer in (heads.query, heads.key, heads.value))
        return torch.matmul(heads.probabilities(q, k, bias), v)  # expect: attention caution

    def apart(self, heads: Optional[Heads], q, k, v, bias=None):
        weights = heads.probabilities(q, k, bias)
        return torch.matmul(weights, v)  # expect: attention caution

    def unmasked(self, heads: Heads, q, k, v):
        weights = heads.probabilities(q, k)
        return torch.matmul(weights, v)  # expect: attention recommend


class Sharper(nn.Module):
    def probabilities(self, q, k):
        return torch.softmax(q @ k.transpose(-1, -2) * 0.125, dim=-1)


class Sparse(Sharper):
    def probabilities(self, q, k):
        scores = torch.sigmoid(q @ k.transpose(-1, -2) * 0.125)
        return scores / scores.sum(-1, keepdim=True)


def overridden(sharper: Sharper, q, k, v):
    return torch.matmul(sharper.probabilities(q, k), v)  # either of two


def either(heads: Heads | Sparse, q, k, v):
    return torch.matmul(heads.probabilities(q, k), v)


def no_module(heads: Plain, q, k, v):
    return torch.matmul(heads.probabilities(q, k), v)


class Plain:
    def probabilities(self, q, k):
        return torch.softmax(q @ k.transpose(-1, -2) * 0.125, dim=-1)
