"""Pairs that are joined otherwise than they were taken apart."""
import torch
from einops import rearrange


def joined_as_halves(x, cos, sin):
    a, b = x[..., 0::2], x[..., 1::2]
    return x * cos + torch.cat((-b, a), dim=-1) * sin  # clean: pairs in, halves out, x as it was


def taken_as_halves(x, cos, sin):
    a, b = x.chunk(2, dim=-1)
    return x * cos + torch.stack((-b, a), dim=-1).flatten(-2) * sin  # clean: halves in, pairs out


def stacked_before(x, cos, sin):
    a, b = x[..., 0::2], x[..., 1::2]
    return x * cos + torch.stack((-b, a), dim=-2).flatten(-2) * sin  # clean: stacked along another axis


def steps_of_three(x, cos, sin):
    a, b = x[..., 0::3], x[..., 1::3]
    return x * cos + torch.stack((-b, a), dim=-1).flatten(-2) * sin  # clean: every third


def odd_first(x, cos, sin):
    b, a = x[..., 0::2], x[..., 1::2]
    return x * cos + torch.stack((-b, a), dim=-1).flatten(-2) * sin  # clean: the pair is not turned


def not_joined(x, cos, sin):
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack((a * cos - b * sin, b * cos + a * sin), dim=-1)  # clean: the pairs stay apart


def conjugated(x, freqs):
    pairs = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
    return torch.view_as_real(pairs.conj() * freqs).flatten(-2)  # clean: of the conjugate


def complex_sum(x, freqs):
    pairs = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
    return torch.view_as_real(pairs + freqs).flatten(-2)  # clean: a sum


def complex_of_halves(x, freqs):
    a, b = x.float().chunk(2, dim=-1)
    return torch.view_as_real(torch.complex(a, b) * freqs).flatten(-2)  # clean: halves in, pairs out


def one_view(x, y, freqs):
    pairs = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
    other = torch.view_as_complex(y.float().reshape(*y.shape[:-1], -1, 2))
    return torch.view_as_real(pairs * other * freqs).flatten(-2)  # clean: a product of three


def einops_in_pairs_out_in_halves(x, cos, sin):
    even, odd = rearrange(x, "... (d two) -> two ... d", two=2)
    turned = rearrange([-odd, even], "two ... d -> ... (two d)")
    return x * cos + turned * sin  # clean: pairs in, halves out


def einops_of_three(x, cos, sin):
    a, b, c = rearrange(x, "... (d three) -> three ... d", three=3)
    turned = rearrange([-b, a, c], "three ... d -> ... (d three)")
    return x * cos + turned * sin  # clean: three in a row


def einops_not_turned(x, cos, sin):
    even, odd = rearrange(x, "... (d two) -> two ... d", two=2)
    turned = rearrange([-even, odd], "two ... d -> ... (d two)")
    return x * cos + turned * sin  # clean: each stays in its place
