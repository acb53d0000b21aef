"""Rotary position embedding, half-split form."""
import torch
from torch import nn


class RotaryTable(nn.Module):
    """cos and sin of every position, (max_positions, head_dim)."""

    def __init__(self, config):
        super().__init__()
        exponent = torch.arange(0, config.head_dim, 2).float() / config.head_dim
        frequency = 1.0 / (config.rope_theta**exponent)
        positions = torch.arange(config.max_positions).float()
        angles = torch.outer(positions, frequency)
        angles = torch.cat((angles, angles), dim=-1)
        self.register_buffer("cos", angles.cos(), persistent=False)
        self.register_buffer("sin", angles.sin(), persistent=False)

    def forward(self, length, dtype):
        return self.cos[:length].to(dtype), self.sin[:length].to(dtype)


def rotate_half(x):
    x1 = x[..., : x.shape[-1] // 2]
    x2 = x[..., x.shape[-1] // 2 :]
    return torch.cat((-x2, x1), dim=-1)


def apply_rotary(q, k, cos, sin):
    """q, k: (batch, heads, length, head_dim); cos, sin: (length, head_dim)."""
    cos = cos[None, None]
    sin = sin[None, None]
    q_embed = (q * cos) + (rotate_half(q) * sin)
    k_embed = (k * cos) + (rotate_half(k) * sin)
    return q_embed, k_embed
