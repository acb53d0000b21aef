"""fairseq: the axis of the concatenation is the rank less one."""
import torch


def rotate_half(x):
    x1, x2 = x[..., : x.shape[-1] // 2], x[..., x.shape[-1] // 2 :]
    return torch.cat((-x2, x1), dim=x1.ndim - 1)


def apply_rotary_pos_emb(q, k, cos, sin, offset: int = 0):
    cos, sin = (cos[offset : q.shape[0] + offset, ...], sin[offset : q.shape[0] + offset, ...])
    q_embed = (q * cos) + (rotate_half(q) * sin)  # expect: rope recommend|caution
    k_embed = (k * cos) + (rotate_half(k) * sin)  # expect: rope recommend|caution
    return q_embed, k_embed


def in_pieces(x, cos, sin):
    left = torch.mul(x, cos)
    turned = rotate_half(x)
    right = turned.mul(sin)
    return left.add(right)  # expect: rope recommend


def fused_multiply_add(x, cos, sin):
    return torch.addcmul(x * cos, rotate_half(x), sin)  # expect: rope recommend
