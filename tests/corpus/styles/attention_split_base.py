"""Attention in two functions of a class whose base is not in sight: nor is the dropout."""
import math

import torch
from torch import nn

from elsewhere.layers import HeadsAndLayers


class Shifted(HeadsAndLayers):
    def __init__(self, heads, width, rate, shift=False):
        super().__init__(heads, width, rate)
        self.shift = shift
        self.place = nn.Linear(width, width, bias=False)

    def moved(self, s):
        pad = torch.zeros((s.size(0), s.size(1), s.size(2), 1), device=s.device, dtype=s.dtype)
        wide = torch.cat([pad, s], dim=-1).view(s.size(0), s.size(1), s.size(3) + 1, s.size(2))
        return wide[:, :, 1:].view_as(s)

    def blend(self, value, scores, hidden):
        scores = scores.masked_fill(hidden, -float("inf"))
        weights = self.dropout(torch.softmax(scores, dim=-1))  # expect: attention caution
        return self.linear_out(torch.matmul(weights, value).transpose(1, 2).flatten(2))

    def forward(self, query, key, value, places, hidden):
        q, k, v = self.forward_qkv(query, key, value)
        p = self.place(places).view(places.size(0), -1, self.h, self.d_k).transpose(1, 2)
        near = torch.matmul(q + self.bias_u, k.transpose(-2, -1))
        far = torch.matmul(q + self.bias_v, p.transpose(-2, -1))
        if self.shift:
            far = self.moved(far)
        return self.blend(v, (near + far) / math.sqrt(self.d_k), hidden)
