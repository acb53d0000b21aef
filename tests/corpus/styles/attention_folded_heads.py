"""Scores of four axes that are seen as three before the softmax."""
import torch
from torch import nn
import torch.nn.functional as F


class SequenceFirst(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.width = heads, width // heads
        self.query, self.key = nn.Linear(width, width), nn.Linear(width, width)
        self.value = nn.Linear(width, width)

    def forward(self, x, padding):
        length, batch, width = x.size()
        q = self.query(x).view(length, batch, self.heads, self.width).permute(1, 2, 0, 3)
        k = self.key(x).view(length, batch, self.heads, self.width).permute(1, 2, 3, 0)
        v = self.value(x).view(length, batch * self.heads, self.width).transpose(0, 1)
        scores = torch.matmul(q, k) * self.width ** -0.5
        scores = scores.view(batch * self.heads, length, -1)
        if padding is not None:
            scores = scores.view(batch, self.heads, length, length)
            scores = scores.masked_fill(padding[:, None, None], float("-inf"))
            scores = scores.view(batch * self.heads, length, length)
        weights = F.softmax(scores, dim=-1)
        return torch.bmm(weights, v)  # expect: attention recommend|caution


class FillThenFold(SequenceFirst):
    def forward(self, x, padding):
        length, batch, width = x.size()
        q = self.query(x).view(length, batch, self.heads, self.width).permute(1, 2, 0, 3)
        k = self.key(x).view(length, batch, self.heads, self.width).permute(1, 2, 0, 3)
        v = self.value(x).view(length, batch * self.heads, self.width).transpose(0, 1)
        scores = torch.matmul(q, k.transpose(-2, -1)) / self.width ** 0.5
        scores = scores.masked_fill(padding[:, None, None], float("-inf"))
        weights = F.softmax(scores.view(batch * self.heads, length, length), dim=-1)
        return torch.bmm(weights, v)  # expect: attention recommend|caution


def weights_of_a_step(q, k, mask, batch, heads, keys):
    scores = torch.bmm(q, k).view(batch, heads, 1, keys)
    scores = torch.where(mask.view(batch, 1, 1, keys), scores, -1e4)
    return F.softmax(scores.view(batch * heads, 1, keys), dim=2)


def a_step_of_decoding(q, k, v, mask, batch, heads, keys):
    weights = weights_of_a_step(q, k, mask, batch, heads, keys)
    return torch.bmm(weights, v)  # expect: attention caution
