"""timm: sine and cosine in one tensor, and a list of inputs."""
import torch


def rot(x):
    return torch.stack([-x[..., 1::2], x[..., ::2]], -1).reshape(x.shape)


def rope_rotate_half(x):
    x1, x2 = x.chunk(2, dim=-1)
    return torch.cat([-x2, x1], dim=-1)


def apply_rot_embed(x: torch.Tensor, sin_emb, cos_emb):
    if sin_emb.ndim == 3:
        sin_emb = sin_emb.unsqueeze(1).expand_as(x)
        cos_emb = cos_emb.unsqueeze(1).expand_as(x)
    return x * cos_emb + rot(x) * sin_emb  # expect: rope recommend|caution


def apply_rot_embed_cat(x: torch.Tensor, emb: torch.Tensor, half: bool = False):
    sin_emb, cos_emb = emb.tensor_split(2, -1)
    if half:
        return x * cos_emb + rope_rotate_half(x) * sin_emb  # expect: rope recommend
    return x * cos_emb + rot(x) * sin_emb  # expect: rope recommend


def apply_rot_embed_list(x, sin_emb, cos_emb):
    return [t * cos_emb + rot(t) * sin_emb for t in x]  # allow: rope caution


def apply_keep_indices_nlc(x, pos_embed, keep_indices):
    return pos_embed.gather(1, keep_indices.unsqueeze(-1).expand(-1, -1, pos_embed.shape[-1]))
