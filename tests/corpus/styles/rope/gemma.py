"""Gemma in plain PyTorch: complex numbers made of the two halves."""
import torch


def apply_rotary_emb(x: torch.Tensor, freqs_cis: torch.Tensor) -> torch.Tensor:
    x_ = torch.view_as_complex(torch.stack(torch.chunk(x.transpose(1, 2).float(), 2, dim=-1), dim=-1))
    x_out = torch.view_as_real(x_ * freqs_cis).type_as(x)
    x_out = torch.cat(torch.chunk(x_out, 2, dim=-1), dim=-2)  # expect: rope recommend
    return x_out.reshape(x_out.shape[0], x_out.shape[1], x_out.shape[2], -1).transpose(1, 2)


def with_helper(q, cos, sin):
    half = q.shape[-1] // 2
    q1 = q[..., :half]
    q2 = q[..., half:]
    return torch.cat([q1 * cos - q2 * sin, q2 * cos + q1 * sin], dim=-1)  # expect: rope recommend
