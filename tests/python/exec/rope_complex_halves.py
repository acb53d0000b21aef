"""Complex numbers made of the two halves, and halves made of them again."""
import torch

EXPECT = {"rope": 1}


def rotated(x, freqs):
    z = torch.view_as_complex(
        torch.stack(torch.chunk(x.transpose(1, 2).float(), 2, dim=-1), dim=-1)
    )
    out = torch.view_as_real(z * freqs).type_as(x)
    out = torch.cat(torch.chunk(out, 2, dim=-1), dim=-2)
    out = out.reshape(out.shape[0], out.shape[1], out.shape[2], -1)
    return out.transpose(1, 2)


def make():
    return rotated


def inputs(dtype):
    angles = torch.randn(1, 1, 5, 8)
    table = torch.polar(torch.ones_like(angles), angles)
    return [(torch.randn(2, 5, 3, 16).to(dtype), table)]
