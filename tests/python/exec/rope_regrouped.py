"""Pairs of neighbours go in, halves come out."""
import torch

EXPECT = {"rope": 1}


def rotated(q, cos, sin):
    cos = cos[..., : cos.shape[-1] // 2].unsqueeze(1)
    sin = sin[..., : sin.shape[-1] // 2].unsqueeze(1)
    q1, q2 = q[..., 0::2], q[..., 1::2]
    return torch.cat([q1 * cos - q2 * sin, q2 * cos + q1 * sin], dim=-1)


def make():
    return rotated


def inputs(dtype):
    angles = torch.randn(2, 5, 16).repeat(1, 1, 2).to(dtype)
    return [(torch.randn(2, 3, 5, 32).to(dtype), angles.cos(), angles.sin())]
