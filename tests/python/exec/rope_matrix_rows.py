"""A 2 x 2 matrix for each pair; pairs get their axis by unsqueeze, the sum counts axes."""
import torch

EXPECT = {"rope": 1}


def matrices(angles):
    cos, sin = angles.cos(), angles.sin()
    return torch.stack([cos, -sin, sin, cos], dim=-1).unflatten(-1, (2, 2))


def rotated(q, freqs):
    pairs = q.float().view(*q.size()[:-1], -1, 2)
    out = freqs[:, -q.size(1):, None].mul(pairs.unsqueeze(-2))
    return out.sum(5).flatten(3).type_as(q)


def make():
    return rotated


def inputs(dtype):
    q = torch.randn(2, 5, 3, 16).to(dtype)
    return [(q, matrices(torch.randn(1, 7, 8))), (q, torch.rand(1, 5, 8, 2, 2))]
