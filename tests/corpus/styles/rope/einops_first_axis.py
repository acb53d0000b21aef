"""Pairs and halves that einops puts along a first axis."""
import torch
from einops import rearrange


class Rotation(torch.nn.Module):
    def __init__(self, angles):
        super().__init__()
        wide = angles.repeat_interleave(2, dim=-1)
        self.register_buffer("cos", wide.cos())
        self.register_buffer("sin", wide.sin())

    @staticmethod
    def turn(x):
        even, odd = rearrange(x, "... (pair two) -> two ... pair", two=2)
        return rearrange([-odd, even], "two ... pair -> ... (pair two)", two=2)

    def forward(self, x, places):
        cos = self.cos[places].to(x.dtype)
        sin = self.sin[places].to(x.dtype)
        return cos * x + sin * self.turn(x)  # expect: rope recommend


def halves(x, cos, sin):
    parts = rearrange(x, "b s h (two d) -> two b s h d", two=2)
    turned = rearrange((-parts[1], parts[0]), "two b s h d -> b s h (two d)")
    return x * cos + turned * sin  # expect: rope recommend


def stacked(x, cos, sin):
    first, second = rearrange(x, "... (two d) -> two ... d", two=2)
    turned = rearrange(torch.stack((-second, first)), "two ... d -> ... (two d)")
    return x * cos + turned * sin  # expect: rope recommend
