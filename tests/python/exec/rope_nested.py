"""A function inside of another: its first parameter is no `self`."""
import torch
from torch import nn

EXPECT = {"rope": 2}


def rotate_each(x, cos, sin):
    def one(tokens, cos, sin):
        x1, x2 = tokens[..., : tokens.shape[-1] // 2], tokens[..., tokens.shape[-1] // 2 :]
        turned = torch.cat((-x2, x1), dim=-1)
        return (tokens.float() * cos + turned.float() * sin).to(tokens.dtype)

    first, second = x.chunk(2, dim=-1)
    return torch.cat((one(first, cos, sin), one(second, cos, sin)), dim=-1)


class Static(nn.Module):
    @staticmethod
    def turn(tokens, cos, sin):
        a, b = tokens.chunk(2, dim=-1)
        return tokens * cos + torch.cat((-b, a), dim=-1) * sin

    def forward(self, x, cos, sin):
        return self.turn(x[..., :16], cos, sin), rotate_each(x, cos, sin)


def make():
    return Static()


def inputs(dtype):
    angles = torch.randn(1, 1, 5, 16).to(dtype)
    return [(torch.randn(2, 3, 5, 32).to(dtype), angles.cos(), angles.sin())]
