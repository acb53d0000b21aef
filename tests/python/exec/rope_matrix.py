"""A 2 x 2 matrix for each pair."""
import torch

EXPECT = {"rope": 1}


def matrices(angles):
    cos, sin = angles.cos(), angles.sin()
    return torch.stack([cos, -sin, sin, cos], dim=-1).unflatten(-1, (2, 2))


def rotated(q, freqs):
    rows = q.float().reshape(*q.shape[:-1], -1, 1, 2)
    out = freqs[..., 0] * rows[..., 0] + freqs[..., 1] * rows[..., 1]
    return out.reshape(*q.shape).type_as(q)


def make():
    return rotated


def inputs(dtype):
    q = torch.randn(2, 3, 5, 16).to(dtype)
    # The operator takes any matrices, not rotations alone.
    return [(q, matrices(torch.randn(1, 1, 5, 8))), (q, torch.rand(1, 1, 5, 8, 2, 2))]
