"""What one arm of a conditional expression changes in place is not changed in the other."""
import math

import torch
from torch import nn


def fill(scores, mask):
    scores.masked_fill_(mask, -10000.0)
    return scores


def function(q, k, v, mask):
    scores = torch.matmul(q, k.transpose(-1, -2)) / 8.0
    filled = fill(scores, mask) if mask is not None else scores
    return torch.matmul(filled.softmax(-1), v)  # expect: attention recommend


class MaskedSoftmax(nn.Module):
    def __init__(self, mask_function, coefficient):
        super().__init__()
        self.mask_function = mask_function
        self.coefficient = coefficient

    def forward(self, scores, mask):
        if self.coefficient is not None:
            scores = scores * self.coefficient
        filled = self.mask_function(scores, mask) if mask is not None else scores
        return torch.nn.Softmax(dim=-1)(filled)


class CoreAttention(nn.Module):
    def __init__(self, layer, width, by_layer):
        super().__init__()
        self.layer = max(1, layer)
        coefficient = None
        self.norm = math.sqrt(width)
        if by_layer:
            coefficient = self.layer
            self.norm *= coefficient
        self.softmax = MaskedSoftmax(fill, coefficient)

    def forward(self, q, k, v, mask):
        scores = torch.matmul(q, k.transpose(-1, -2)) / self.norm
        weights = self.softmax(scores, mask)
        return torch.matmul(weights, v)  # expect: attention recommend|caution
