"""A softmax that is written out."""
import math

import torch
from torch import nn


def plain(q, k, v):
    e = torch.exp(q @ k.transpose(-2, -1) / 8)
    return torch.matmul(e / torch.sum(e, -1, keepdim=True), v)  # expect: attention recommend


def with_largest(q, k, v, hidden):
    scores = q @ k.transpose(-2, -1) / math.sqrt(64)
    scores = scores.masked_fill(hidden, float("-inf"))
    top, _ = torch.max(scores, dim=-1, keepdim=True)
    e = torch.exp(scores - top)
    return (e / e.sum(-1, keepdim=True)) @ v  # expect: attention recommend


class Values(nn.Module):
    def softmax(self, x):
        e = (x - x.max(-1, keepdim=True).values.detach()).exp()
        return e / torch.sum(e, dim=-1, keepdim=True)

    def forward(self, q, k, v):
        weights = self.softmax(q @ k.transpose(-2, -1) * 0.125)
        return torch.matmul(weights, v)  # expect: attention recommend


def with_amax(q, k, v):
    scores = torch.einsum("bhqd,bhkd->bhqk", q, k) * 0.125
    e = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
    weights = e * (1.0 / e.sum(dim=-1, keepdim=True))
    return torch.einsum("bhqk,bhkd->bhqd", weights, v)  # expect: attention recommend


def with_epsilon(q, k, v):
    e = torch.exp(q @ k.transpose(-2, -1))
    return torch.matmul(e / (e.sum(-1, keepdim=True) + 1e-6), v)  # expect: attention caution
