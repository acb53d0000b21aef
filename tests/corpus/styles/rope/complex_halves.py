"""Complex numbers that are made of the two halves."""
import torch


def real_and_imaginary(x, table):
    half = x.shape[-1] // 2
    z = torch.complex(x[..., :half].float(), x[..., half:].float()) * table
    return torch.cat([z.real, z.imag], dim=-1).to(x.dtype)  # expect: rope recommend


def stacked_halves(x, table):
    z = torch.view_as_complex(torch.stack(x.float().chunk(2, dim=-1), dim=-1))
    out = torch.view_as_real(z * table)
    out = torch.cat(out.chunk(2, dim=-1), dim=-2)
    return out.reshape(out.shape[0], out.shape[1], out.shape[2], -1).type_as(x)  # expect: rope recommend


def turned_view(x, table):
    z = torch.view_as_complex(x.float().reshape(*x.shape[:-1], 2, -1).transpose(-2, -1).contiguous())
    out = torch.view_as_real(z * table).transpose(-1, -2).flatten(3)
    return out.type_as(x)  # expect: rope recommend


def turned_view_from_the_end(x, table):
    z = torch.view_as_complex(x.reshape(*x.shape[:-1], 2, -1).transpose(-1, -2).contiguous())
    return torch.view_as_real(z * table).transpose(-2, -1).flatten(-2)  # expect: rope recommend
