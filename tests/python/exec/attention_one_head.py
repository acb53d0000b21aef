"""Keys and values of one head, without an axis of heads."""
import math

import torch
from torch import nn

EXPECT = {"attention": 2}


class OneHead(nn.Module):
    def __init__(self, size, heads):
        super().__init__()
        self.heads, self.width = heads, size // heads
        self.q = nn.Linear(size, size)
        self.kv = nn.Linear(size, 2 * self.width)

    def forward(self, x):
        b, s, e = x.shape
        q = self.q(x).view(b, s, self.heads, self.width)
        k, v = self.kv(x).chunk(2, dim=-1)
        first = self.attend(q.transpose(1, 2), k, v).transpose(1, 2)
        return (first + self.length_first(q, k, v)).reshape(b, s, e)

    def attend(self, q, k, v):
        scores = torch.einsum("b h i d, b j d -> b h i j", q, k) / math.sqrt(q.shape[-1])
        hidden = torch.triu(torch.ones(q.shape[2], q.shape[2], dtype=torch.bool), diagonal=1)
        weights = scores.masked_fill(hidden, -torch.finfo(scores.dtype).max).softmax(dim=-1)
        return torch.einsum("b h i j, b j d -> b h i d", weights, v)

    def length_first(self, q, k, v):
        weights = torch.einsum("bihd,bjd->bhij", q, k).mul(0.25).softmax(-1)
        return torch.einsum("bhij,bjd->bihd", weights, v)


def make():
    return OneHead(24, 3)


def inputs(dtype):
    return [(torch.randn(2, 6, 24).to(dtype),)]
