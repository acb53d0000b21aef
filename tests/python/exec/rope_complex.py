"""A product of complex numbers."""
import torch

EXPECT = {"rope": 1}


def apply_rotary_emb(x, freqs):
    x_ = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
    freqs = freqs[None, :, None, :]
    return torch.view_as_real(x_ * freqs).flatten(-2).type_as(x)


def make():
    return apply_rotary_emb


def inputs(dtype):
    angles = torch.randn(5, 8)
    return [(torch.randn(2, 5, 3, 16).to(dtype), torch.polar(torch.ones_like(angles), angles))]
