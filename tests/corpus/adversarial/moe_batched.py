"""Batched products in a chain that are no experts."""
import torch
import torch.nn.functional as F
from torch import nn


def graph(adjacency, x, y):
    return torch.bmm(F.silu(torch.bmm(adjacency, x)), y)


def squared(x, w):
    return torch.bmm(F.silu(torch.bmm(x, w)), w)


class Shared(nn.Module):
    """Every token goes through all of them and the results are added: nothing is routed."""

    def __init__(self, n, dim, width):
        super().__init__()
        self.n = n
        self.first = nn.Parameter(torch.empty(n, dim, width))
        self.last = nn.Parameter(torch.empty(n, width, dim))

    def forward(self, x):
        x = x.reshape(1, -1, x.shape[-1]).expand(self.n, -1, -1)
        return torch.bmm(F.gelu(torch.bmm(x, self.first)), self.last).sum(0)


class LinearChain(nn.Module):
    """No activation in between: low-rank factors."""

    def __init__(self, n, dim, rank):
        super().__init__()
        self.down = nn.Parameter(torch.empty(n, dim, rank))
        self.up = nn.Parameter(torch.empty(n, rank, dim))

    def forward(self, x):
        return F.gelu(torch.bmm(torch.bmm(x, self.down), self.up))


class Memory(nn.Module):
    """Learned keys and values: weights over slots by a softmax."""

    def __init__(self, n, slots, dim):
        super().__init__()
        self.keys = nn.Parameter(torch.empty(n, dim, slots))
        self.values = nn.Parameter(torch.empty(n, slots, dim))

    def forward(self, x):
        w = torch.bmm(F.gelu(x), self.keys).softmax(-1)
        return torch.bmm(w, self.values)  # allow: attention caution|recommend
