"""Halves that are cut at a number of the configuration."""
import torch
from torch import nn

EXPECT = {"rope": 1}


class Rotary(nn.Module):
    def __init__(self, half):
        super().__init__()
        self.half = half

    def forward(self, x, cos, sin):
        turned = torch.cat((-x[..., self.half :], x[..., : self.half]), dim=-1)
        return x * cos + turned * sin


def make():
    return Rotary(8)


def inputs(dtype):
    angles = torch.randn(1, 1, 5, 16).to(dtype)
    return [(torch.randn(2, 3, 5, 16).to(dtype), angles.cos(), angles.sin())]


def excluded(dtype):
    """Of another width, the cut is not in the middle."""
    angles = torch.randn(1, 1, 5, 24).to(dtype)
    return [(torch.randn(2, 3, 5, 24).to(dtype), angles.cos(), angles.sin())]
