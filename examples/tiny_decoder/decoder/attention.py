"""Causal self-attention with grouped key and value heads."""
import math

import torch
from torch import nn
from torch.nn import functional as F

from .norm import HeadRMSNorm
from .rotary import apply_rotary


def repeat_kv(x, groups):
    """(batch, kv_heads, length, d) to (batch, kv_heads * groups, length, d)."""
    if groups == 1:
        return x
    batch, kv_heads, length, dim = x.shape
    x = x[:, :, None].expand(batch, kv_heads, groups, length, dim)
    return x.reshape(batch, kv_heads * groups, length, dim)


class Attention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.num_heads = config.num_heads
        self.num_kv_heads = config.num_kv_heads
        self.head_dim = config.head_dim
        self.scaling = 1.0 / math.sqrt(self.head_dim)
        width = self.num_heads * self.head_dim
        kv_width = self.num_kv_heads * self.head_dim
        self.q_proj = nn.Linear(config.hidden_size, width, bias=False)
        self.k_proj = nn.Linear(config.hidden_size, kv_width, bias=False)
        self.v_proj = nn.Linear(config.hidden_size, kv_width, bias=False)
        self.o_proj = nn.Linear(width, config.hidden_size, bias=False)
        self.q_norm = HeadRMSNorm(config)
        self.k_norm = HeadRMSNorm(config)

    def forward(self, hidden_states, cos, sin):
        batch, length, _ = hidden_states.shape
        shape = (batch, length, -1, self.head_dim)
        q = self.q_norm(self.q_proj(hidden_states).view(shape)).transpose(1, 2)
        k = self.k_norm(self.k_proj(hidden_states).view(shape)).transpose(1, 2)
        v = self.v_proj(hidden_states).view(shape).transpose(1, 2)
        q, k = apply_rotary(q, k, cos, sin)

        k = repeat_kv(k, self.num_heads // self.num_kv_heads)
        v = repeat_kv(v, self.num_heads // self.num_kv_heads)
        scores = torch.matmul(q, k.transpose(2, 3)) * self.scaling
        hidden = torch.ones(
            length, length, dtype=torch.bool, device=scores.device
        ).triu(diagonal=1)
        scores = scores.masked_fill(hidden, torch.finfo(scores.dtype).min)
        weights = F.softmax(scores, dim=-1, dtype=torch.float32).to(q.dtype)
        output = torch.matmul(weights, v)

        output = output.transpose(1, 2).reshape(batch, length, -1)
        return self.o_proj(output)
