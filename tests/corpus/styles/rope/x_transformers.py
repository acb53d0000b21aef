"""x-transformers and lucidrains: rearrange, partial width by the frequencies."""
import torch
from einops import rearrange, repeat


def rotate_half(x):
    x = rearrange(x, '... (d r) -> ... d r', r=2)
    x1, x2 = x.unbind(dim=-1)
    x = torch.stack((-x2, x1), dim=-1)
    return rearrange(x, '... d r -> ... (d r)')


def rotate_half_by_halves(x):
    x = rearrange(x, '... (j d) -> ... j d', j=2)
    x1, x2 = x.unbind(dim=-2)
    return torch.cat((-x2, x1), dim=-1)


def apply_rotary_pos_emb(t, freqs, scale=1):
    rot_dim, seq_len = freqs.shape[-1], t.shape[-2]
    freqs = freqs[:, -seq_len:, :]
    t, t_unrotated = t[..., :rot_dim], t[..., rot_dim:]
    t = (t * freqs.cos() * scale) + (rotate_half(t) * freqs.sin() * scale)  # expect: rope recommend|caution
    return torch.cat((t, t_unrotated), dim=-1)


def apply_rotary_emb(freqs, t):
    return (t * freqs.cos()) + (rotate_half_by_halves(t) * freqs.sin())  # expect: rope recommend|caution


def palm(pos, t):
    return (t * pos.cos()) + (rotate_half_by_halves(t) * pos.sin())  # expect: rope recommend|caution
