"""Computed in float32 and cast back, as vision towers do; three axes."""
import torch

EXPECT = {"rope": 2}


def rotate_half(x):
    x1, x2 = x.chunk(2, dim=-1)
    return torch.cat((-x2, x1), dim=-1)


def apply_rotary_pos_emb_vision(q, k, cos, sin):
    q_dtype, k_dtype = q.dtype, k.dtype
    q, k = q.float(), k.float()
    cos, sin = cos.unsqueeze(-2).float(), sin.unsqueeze(-2).float()
    q_embed = (q * cos) + (rotate_half(q) * sin)
    k_embed = (k * cos) + (rotate_half(k) * sin)
    q_embed = q_embed.to(q_dtype)
    k_embed = k_embed.to(k_dtype)
    return q_embed, k_embed


def make():
    return apply_rotary_pos_emb_vision


def inputs(dtype):
    angles = torch.randn(7, 32)
    q, k = torch.randn(7, 3, 32).to(dtype), torch.randn(7, 3, 32).to(dtype)
    return [(q, k, angles.cos(), angles.sin()), (q, k, angles.cos().to(dtype), angles.sin().to(dtype))]
