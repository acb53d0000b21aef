"""A product of complex numbers: the result is cast back, or is not."""
import torch


def cast_back(x, freqs):
    z = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
    return torch.view_as_real(z * freqs).flatten(-2).type_as(x)  # expect: rope recommend


def stays_float32(x, freqs):
    z = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
    return torch.view_as_real(z * freqs).flatten(-2)  # expect: rope recommend
