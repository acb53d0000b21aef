"""Keys before queries, weights turned, two softmaxes, parts that are not in sight."""
import math

import torch
import torch.nn.functional as F
from elsewhere import Rotary, add_position_bias, drop_paths
from torch import nn


class KeysFirst(nn.Module):
    """Scores of keys and queries; the softmax is over the axis of the keys."""

    def __init__(self, dim):
        super().__init__()
        self.key = nn.Linear(dim, dim)
        self.query = nn.Linear(dim, dim)
        self.value = nn.Linear(dim, dim)

    def forward(self, states, target):
        keys, queries = self.key(states), self.query(target)
        table = torch.bmm(keys, queries.transpose(1, 2)) / 8.0
        table = F.softmax(table, dim=1)
        return torch.bmm(table.transpose(1, 2), self.value(states))  # expect: attention recommend


def turned_with_mask(keys, queries, values, hidden):
    table = torch.matmul(keys, queries.transpose(-2, -1)) * 0.25
    table = table.masked_fill(hidden, float("-inf"))
    weights = table.softmax(-2).transpose(-2, -1)
    return weights @ values  # expect: attention caution


def columns(v, k, q):
    """Channels first: (batch, width, length)."""
    table = torch.bmm(k.permute(0, 2, 1), q).softmax(dim=1)
    return torch.bmm(v, table)  # expect: attention caution


def permuted_keys(q, k, v):
    table = torch.matmul(q, k.permute(0, 1, 3, 2)) * 0.125
    return torch.matmul(table.softmax(-1), v)  # expect: attention recommend


class TwoArms(nn.Module):
    """One softmax in each arm, one with a mask of windows."""

    def __init__(self, heads):
        super().__init__()
        self.heads = heads
        self.softmax = nn.Softmax(dim=-1)

    def forward(self, q, k, v, mask=None):
        rows, n = q.shape[0], q.shape[2]
        table = q @ k.transpose(-2, -1) * 0.2
        if mask is None:
            weights = self.softmax(table)
        else:
            windows = mask.shape[0]
            table = table.view(rows // windows, windows, self.heads, n, n) + mask[None, :, None]
            weights = self.softmax(table.view(-1, self.heads, n, n))
        return weights @ v  # expect: attention caution


class Inverted(nn.Module):
    """Another axis behind a flag."""

    def forward(self, q, k, v, inverted=False):
        table = torch.matmul(q, k.transpose(-1, -2)) * 0.2
        if inverted:
            weights = table.softmax(dim=-2)
        else:
            weights = table.softmax(dim=-1)
        return torch.matmul(weights, v)  # expect: attention caution


class Helped(nn.Module):
    """What another package does to scores and weights is not known."""

    def forward(self, q, k, v, mask):
        table = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        table = add_position_bias(table, mask)
        weights = drop_paths(table.softmax(dim=-1), 0.1)
        return weights @ v  # expect: attention caution


class Relative(nn.Module):
    """Content and position, the latter shifted by a helper that is not in sight."""

    def __init__(self):
        super().__init__()
        self.shift = Rotary()

    def forward(self, q, k, v, p):
        position = self.shift(torch.matmul(q, p.transpose(-2, -1)))
        content = torch.matmul(q, k.transpose(-2, -1))
        weights = torch.softmax((position + content) * 0.1, dim=-1)
        return torch.matmul(weights, v)  # expect: attention caution


def biases_of_a_loop(q, k, v, biases):
    table = torch.matmul(q, k.transpose(-1, -2))
    for bias in biases:
        table = table + bias
    return torch.matmul(torch.softmax(table, dim=-1), v)  # expect: attention caution


def filled_again(q, k, v, hidden=None, keys=None):
    """Rows without any visible key: weights are set to 0 once more."""
    table = q @ k.transpose(-2, -1)
    if hidden is not None:
        table = table.masked_fill(hidden, float("-inf"))
    if keys is not None:
        table = table.masked_fill(keys, float("-inf"))
    weights = table.softmax(-1)
    if hidden is not None:
        weights = weights.masked_fill(hidden, 0.0)
    if keys is not None:
        weights = weights.masked_fill(keys, 0.0)
    return weights @ v  # expect: attention recommend|caution
