"""Queries and keys by halves; the tables are given an axis for the heads."""
import torch

EXPECT = {"rope": 2}


def rotate_half(x):
    x1 = x[..., : x.shape[-1] // 2]
    x2 = x[..., x.shape[-1] // 2 :]
    return torch.cat((-x2, x1), dim=-1)


def apply_rotary_pos_emb(q, k, cos, sin, unsqueeze_dim=1):
    cos = cos.unsqueeze(unsqueeze_dim)
    sin = sin.unsqueeze(unsqueeze_dim)
    q_embed = (q * cos) + (rotate_half(q) * sin)
    k_embed = (k * cos) + (rotate_half(k) * sin)
    return q_embed, k_embed


def make():
    return apply_rotary_pos_emb


def inputs(dtype):
    angles = torch.randn(2, 5, 32)
    tables = (angles.cos(), angles.sin())
    q, k = torch.randn(2, 4, 5, 32).to(dtype), torch.randn(2, 2, 5, 32).to(dtype)
    return [(q, k, *tables), (q, k, *(t.to(dtype) for t in tables))]
