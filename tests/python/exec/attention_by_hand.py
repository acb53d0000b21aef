"""The softmax is written out, the largest subtracted."""
import torch
from torch import nn

EXPECT = {"attention": 1}


class ByHand(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.query, self.key = nn.Linear(dim, dim), nn.Linear(dim, dim, bias=False)

    def forward(self, x, hidden):
        q = self.query(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
        k = self.key(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
        scores = (q @ k.transpose(-2, -1) / 3.0).masked_fill(hidden, float("-inf"))
        top, _ = torch.max(scores, dim=-1, keepdim=True)
        e = torch.exp(scores - top)
        return (e / e.sum(-1, keepdim=True)) @ k


def make():
    return ByHand(24, 3)


def inputs(dtype):
    hidden = torch.rand(2, 1, 6, 6, generator=torch.Generator().manual_seed(2)) > 0.6
    hidden &= ~torch.eye(6, dtype=torch.bool)
    return [(torch.randn(2, 6, 24).to(dtype), hidden)]
