"""Attention weights that a helper returns and its caller drops; their name sorts first."""
import torch
from torch import nn
from torch.nn import functional as F

EXPECT = {"attention": 1}


def attend(query, key, value, scaling):
    attn_probs = torch.matmul(query, key.transpose(2, 3)) * scaling
    attn_probs = F.softmax(attn_probs, dim=-1)
    context = torch.matmul(attn_probs, value)
    context = context.transpose(1, 2)
    return context, attn_probs


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q = nn.Linear(16, 16)
        self.k = nn.Linear(16, 16, bias=False)
        self.v = nn.Linear(16, 16)

    def forward(self, x):
        context, _ = attend(self.q(x), self.k(x), self.v(x), 0.25)
        return context


def make():
    return Attention()


def inputs(dtype):
    return [(torch.randn(2, 3, 5, 16).to(dtype),)]
