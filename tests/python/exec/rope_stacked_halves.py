"""Rotary embedding whose halves are stacked, then made one axis."""
import torch
from torch import nn

EXPECT = {"rope": 1}


class Turn(nn.Module):
    def forward(self, x, cos, sin):
        a, b = x.unflatten(-1, (2, -1)).unbind(dim=-2)
        turned = torch.stack([a * cos - b * sin, b * cos + a * sin], dim=-2)
        return turned.flatten(start_dim=-2)


def make():
    return Turn()


def inputs(dtype):
    def table():
        return torch.randn(1, 1, 5, 16).to(dtype)

    return [(torch.randn(2, 3, 5, 32).to(dtype), table(), table())]
