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
