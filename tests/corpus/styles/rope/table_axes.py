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


class TwoFromOneCall(torch.nn.Module):
    """Tables that one method gives back, out of attributes that it may have made anew."""
    def __init__(self, dim):
        super().__init__()
        self.register_buffer("inv_freq", 1.0 / (10000 ** (torch.arange(0, dim, 2) / dim)))
        self.length, self.kept_cos, self.kept_sin = None, None, None

    def tables(self, length, dtype):
        if length != self.length:
            self.length = length
            angles = torch.outer(torch.arange(length).float(), self.inv_freq)
            angles = torch.cat((angles, angles), dim=-1)
            self.kept_cos = angles.cos()[None]
            self.kept_sin = angles.sin()[None]
            self.kept_cos = self.kept_cos.type(dtype)
            self.kept_sin = self.kept_sin.type(dtype)
        return self.kept_cos, self.kept_sin

    def forward(self, q):
        cos, sin = self.tables(q.shape[1], q.dtype)
        a, b = q.chunk(2, dim=-1)
        return q * cos + torch.cat((-b, a), dim=-1) * sin  # expect: rope recommend


def widened_alike(q, cos, sin):
    if cos.size(-1) * 2 == q.size(-1):
        cos = torch.cat((cos, cos), dim=-1)
    if sin.size(-1) * 2 == q.size(-1):
        sin = torch.cat((sin, sin), dim=-1)
    a, b = q.chunk(2, dim=-1)
    return q * cos + torch.cat((-b, a), dim=-1) * sin  # expect: rope recommend


def widened_apart(q, cos, sin):
    if cos.size(-1) * 2 == q.size(-1):
        cos = torch.cat((cos, cos), dim=-1)
    if sin.size(-1) * 2 == q.size(0):
        sin = torch.cat((sin, sin), dim=0)
    a, b = q.chunk(2, dim=-1)
    return q * cos + torch.cat((-b, a), dim=-1) * sin  # expect: rope caution
