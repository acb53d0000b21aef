"""Baichuan and InternLM: squeezed tables, float32 products, two results."""
import torch


def rotate_half(x):
    x1 = x[..., : x.shape[-1] // 2]
    x2 = x[..., x.shape[-1] // 2:]
    return torch.cat((-x2, x1), dim=-1)


def apply_rotary_pos_emb(q, k, cos_, sin_, position_ids):
    cos = cos_.squeeze(1).squeeze(0)
    sin = sin_.squeeze(1).squeeze(0)
    cos = cos[position_ids].unsqueeze(1)
    sin = sin[position_ids].unsqueeze(1)
    q_embed = (q.float() * cos) + (rotate_half(q.float()) * sin)  # expect: rope recommend
    k_embed = (k.float() * cos) + (rotate_half(k.float()) * sin)  # expect: rope recommend
    return q_embed.to(q.dtype), k_embed.to(k.dtype)


def both_in_one_line(q, k, cos, sin):
    return (q * cos) + (rotate_half(q) * sin), (k * cos) + (rotate_half(k) * sin)  # expect: rope recommend|caution
