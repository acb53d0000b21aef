"""Tables of fewer dimensions than the input, and of more than the operator takes."""
import torch
from torch import nn


def rotate_half(x):
    a, b = x.chunk(2, dim=-1)
    return torch.cat((-b, a), dim=-1)


class ByPosition(nn.Module):
    def __init__(self, width):
        super().__init__()
        inverse = 1.0 / (10000 ** (torch.arange(0, width, 2).float() / width))
        self.register_buffer("inverse", inverse, persistent=False)

    def forward(self, q, k):
        steps = torch.arange(q.shape[-2], device=q.device)
        angles = torch.outer(steps.type_as(self.inverse), self.inverse)
        both = torch.cat((angles, angles), dim=-1)
        cos, sin = both.cos(), both.sin()
        turned = q * cos + rotate_half(q) * sin  # expect: rope recommend
        return turned, k * cos + rotate_half(k) * sin  # expect: rope recommend


def by_six_axes(video, angles, width: int):
    cos = angles.cos().view(1, 1, 1, 1, -1, width)
    sin = angles.sin().view(1, 1, 1, 1, -1, width)
    return video * cos + rotate_half(video) * sin  # expect: rope caution


def of_five_axes(x, cos, sin):
    batch, frames, heads, tokens, width = x.shape
    cos, sin = cos.unsqueeze(1), sin.unsqueeze(1)
    return x * cos + rotate_half(x) * sin  # expect: rope caution


def wider_than_the_input(x, cos, sin):
    batch, tokens, width = x.shape
    cos = cos.view(batch, tokens, 1, width)
    sin = sin.view(batch, tokens, 1, width)
    return x * cos + rotate_half(x) * sin  # expect: rope caution
