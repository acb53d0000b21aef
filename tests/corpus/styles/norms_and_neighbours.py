"""Layer norms of a sum, group norms before SiLU, softmax of masked scores."""
import math

import torch
from torch import nn
import torch.nn.functional as F


class PostNorm(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.dense = nn.Linear(size, size)
        self.after = nn.LayerNorm(size, eps=1e-12)
        self.dropout = nn.Dropout(0.1)

    def forward(self, hidden, shortcut):
        hidden = self.dropout(self.dense(hidden))
        return self.after(hidden + shortcut)  # expect: add_layer_norm caution


class ByFunction(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.size = size
        self.scale = nn.Parameter(torch.ones(size))
        self.shift = nn.Parameter(torch.zeros(size))

    def forward(self, x, y):
        total = torch.add(x, y)
        return F.layer_norm(total, (self.size,), self.scale, self.shift, 1e-6)  # expect: add_layer_norm caution


class PreNorm(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.norm = nn.LayerNorm(size)
        self.up = nn.Linear(size, size)

    def forward(self, x, y):
        total = x + y
        return total + self.up(self.norm(total))  # expect: add_layer_norm caution


class ResBlock(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.norm1 = nn.GroupNorm(32, channels, eps=1e-6, affine=True)
        self.norm2 = torch.nn.GroupNorm(num_groups=16, num_channels=channels)
        self.nonlinearity = nn.SiLU()
        self.conv = nn.Conv2d(channels, channels, 3)

    def forward(self, x):
        h = self.nonlinearity(self.norm1(x))  # expect: group_norm_silu caution
        h = self.conv(h)
        h = self.norm2(h)
        return h * torch.sigmoid(h)  # expect: group_norm_silu caution


def by_functions(x, weight, bias):
    return F.silu(F.group_norm(x, 8, weight, bias, 1e-5))  # expect: group_norm_silu caution


def weights_of(scores, hidden, size):
    scores = scores / math.sqrt(size)
    return F.softmax(scores.masked_fill(hidden, float("-inf")), dim=-1)  # expect: scaled_masked_softmax caution


class Scores(nn.Module):
    def __init__(self):
        super().__init__()
        self.softmax = nn.Softmax(dim=-1)

    def forward(self, scores, keep):
        scores = scores.masked_fill(keep == 0, torch.finfo(scores.dtype).min)
        return self.softmax(scores)  # expect: scaled_masked_softmax caution


def in_float32(scores, hidden):
    masked = scores.masked_fill(hidden, -1e9)
    return F.softmax(masked, dim=-1, dtype=torch.float32).to(scores.dtype)  # expect: scaled_masked_softmax caution
