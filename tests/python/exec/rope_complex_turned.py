"""Complex numbers of the two halves: by a view whose last two axes are exchanged."""
import torch

EXPECT = {"rope": 1}


def rotated(x, freqs):
    halves = x.float().reshape(*x.shape[:-1], 2, -1)
    z = torch.view_as_complex(halves.transpose(-2, -1).contiguous())
    return torch.view_as_real(z * freqs).transpose(-2, -1).flatten(3).type_as(x)


def make():
    return rotated


def inputs(dtype):
    angles = torch.randn(1, 5, 1, 8)
    table = torch.polar(torch.ones_like(angles), angles)
    return [(torch.randn(2, 5, 3, 16).to(dtype), table)]
