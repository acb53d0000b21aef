"""Scores that are multiplied by a learned number a head, or by a computed number."""
import math

import torch
import torch.nn.functional as F
from torch import nn


class Cosine(nn.Module):
    def __init__(self, dim, heads=8, scale_max=4.6):
        super().__init__()
        self.heads, self.scale_max = heads, scale_max
        self.log_scale = nn.Parameter(torch.log(10 * torch.ones((heads, 1, 1))))

    def forward(self, q, k, v):
        attn = F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).transpose(-2, -1)
        attn = attn * torch.clamp(self.log_scale, max=self.scale_max).exp()
        return attn.softmax(dim=-1) @ v  # expect: attention caution


class Temperature(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.temperature = nn.Parameter(torch.ones(1) * width ** -0.5)

    def forward(self, q, k, v):
        scores = torch.matmul(q, k.transpose(-2, -1)) * self.temperature
        return torch.matmul(scores.softmax(dim=-1), v)  # expect: attention caution


class Yarn(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.scale = args.width ** -0.5
        if args.longest > args.trained:
            by = 0.1 * args.by * math.log(args.factor) + 1.0
            self.scale = self.scale * by * by

    def forward(self, q, k, v):
        scores = torch.einsum("bshd,bthd->bhst", q, k) * self.scale
        return torch.einsum("bhst,bthd->bshd", scores.softmax(dim=-1), v)  # expect: attention recommend|caution


def stretch(ratio, weight=1):
    if ratio <= 1:
        return 1.0
    return 0.1 * weight * math.log(ratio) + 1.0


class StretchedByATable(nn.Module):
    """The number comes out of a table that the configuration holds."""

    def __init__(self, settings):
        super().__init__()
        self.scale = settings.width ** -0.5
        if settings.longer is not None:
            weight = settings.longer.get("weight", 0)
            if weight:
                by = stretch(settings.longer["ratio"], weight)
                self.scale = self.scale * by * by

    def forward(self, q, k, v):
        scores = torch.matmul(q, k.transpose(2, 3)) * self.scale
        scores = torch.softmax(scores, dim=-1, dtype=torch.float32).to(q.dtype)
        return torch.matmul(scores, v)  # expect: attention recommend
