"""Megatron: [s, b, n, d], the table holds angles, an argument chooses pairs."""
import torch


def _rotate_half(x: torch.Tensor, rotary_interleaved: bool) -> torch.Tensor:
    if not rotary_interleaved:
        x1, x2 = torch.chunk(x, 2, dim=-1)
        return torch.cat((-x2, x1), dim=-1)
    else:
        x1 = x[:, :, :, ::2]
        x2 = x[:, :, :, 1::2]
        x_new = torch.stack((-x2, x1), dim=-1)
        return x_new.view(x_new.shape[0], x_new.shape[1], x_new.shape[2], -1)


def _apply_rotary_pos_emb_bshd(t, freqs, rotary_interleaved=False, mscale=1.0):
    rot_dim = freqs.shape[-1]
    t, t_pass = t[..., :rot_dim], t[..., rot_dim:]
    cos_ = (torch.cos(freqs) * mscale).to(t.dtype)
    sin_ = (torch.sin(freqs) * mscale).to(t.dtype)
    t = (t * cos_) + (_rotate_half(t, rotary_interleaved) * sin_)  # allow: rope recommend|caution
    return torch.cat((t, t_pass), dim=-1)


def halves_only(t, freqs):
    cos_, sin_ = freqs.cos().to(t.dtype), freqs.sin().to(t.dtype)
    return t * cos_ + _rotate_half(t, False) * sin_  # expect: rope recommend


def pairs_only(t, freqs):
    cos_, sin_ = freqs.cos().to(t.dtype), freqs.sin().to(t.dtype)
    return t * cos_ + _rotate_half(t, True) * sin_  # expect: rope recommend
