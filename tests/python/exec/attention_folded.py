"""Heads folded into the batch, a mask that is added where they are told apart."""
import torch
from torch import nn

EXPECT = {"attention": 1}


class Folded(nn.Module):
    def __init__(self, size, heads):
        super().__init__()
        self.heads, self.dim = heads, size // heads
        self.scaling = self.dim ** -0.5
        self.q_proj = nn.Linear(size, size)
        self.k_proj = nn.Linear(size, size, bias=False)
        self.v_proj = nn.Linear(size, size)

    def shape(self, x, batch):
        x = x.view(batch, -1, self.heads, self.dim).transpose(1, 2)
        return x.reshape(batch * self.heads, -1, self.dim)

    def forward(self, x, keep):
        batch, length, size = x.shape
        q = self.shape(self.q_proj(x) * self.scaling, batch)
        k = self.shape(self.k_proj(x), batch)
        v = self.shape(self.v_proj(x), batch)
        weights = torch.bmm(q, k.transpose(1, 2))
        weights = weights.view(batch, self.heads, length, length)
        weights = weights.masked_fill(keep[:, None, None, :] == 0, torch.finfo(weights.dtype).min)
        weights = weights.view(batch * self.heads, length, length)
        weights = nn.functional.softmax(weights, dim=-1)
        output = torch.bmm(weights, v)
        output = output.view(batch, self.heads, length, self.dim).transpose(1, 2)
        return output.reshape(batch, length, size)


def make():
    return Folded(24, 3)


def inputs(dtype):
    keep = torch.ones(2, 6)
    keep[1, 2:4] = 0
    return [(torch.randn(2, 6, 24).to(dtype), keep)]
