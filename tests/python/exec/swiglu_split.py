"""A function of a packed tensor, halves by split."""
import torch
import torch.nn.functional as F

EXPECT = {"swiglu": 1}


def glu(packed):
    gate, up = torch.split(packed, packed.shape[-1] // 2, dim=-1)
    gate = F.silu(gate)
    return gate * up


def make():
    return glu


def inputs(dtype):
    return [
        (torch.randn(2, 3, 16).to(dtype),),
        (torch.randn(3, 2, 16).to(dtype).transpose(0, 1),),  # strided
        (torch.randn(3, 20).to(dtype)[:, 2:18],),
    ]


def excluded(dtype):
    return [(torch.randn(0, 16).to(dtype),)]
