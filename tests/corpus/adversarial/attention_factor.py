"""Scores that are multiplied by tensors of their own shape."""
import torch
from torch import nn


class Keys(nn.Module):
    def __init__(self, keys):
        super().__init__()
        self.of_keys = nn.Parameter(torch.ones(keys))

    def forward(self, q, k, v):
        scores = q @ k.transpose(-2, -1) * self.of_keys
        return scores.softmax(dim=-1) @ v  # clean: a factor a key


class Distances(nn.Module):
    def __init__(self, heads, length):
        super().__init__()
        self.slope = nn.Parameter(torch.zeros(heads, 1, length))

    def forward(self, q, k, v):
        scores = q @ k.transpose(-2, -1) * self.slope.exp()
        return scores.softmax(dim=-1) @ v  # clean: a factor a key


def gated(q, k, v, gate):
    scores = q @ k.transpose(-2, -1) * torch.sigmoid(gate)
    return scores.softmax(dim=-1) @ v  # clean: a tensor whose size nobody knows


class Late(nn.Module):
    def __init__(self, heads):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(heads, 1, 1))

    def forward(self, q, k, v):
        weights = (q @ k.transpose(-2, -1)).softmax(dim=-1) * self.scale
        return weights @ v  # clean: behind the softmax


def gated_scores(q, k, v, keep):
    scores = (q @ k.transpose(-1, -2) / 8) * keep
    return scores.softmax(-1) @ v  # allow: attention caution


def gated_if_given(q, k, v, keep=None):
    scores = q @ k.transpose(-1, -2) / 8
    if keep is not None:
        scores = scores * keep
    return scores.softmax(-1) @ v  # allow: attention caution


def scaled_by_a_number(q, k, v, scale: float):
    scores = (q @ k.transpose(-1, -2)) * scale
    return scores.softmax(-1) @ v  # expect: attention recommend


def scaled_by_default(q, k, v, scale=0.125):
    scores = (q @ k.transpose(-1, -2)) * scale
    return scores.softmax(-1) @ v  # expect: attention recommend


def scaled_by_width(q, k, v, scale=None):
    scale = q.shape[-1] ** -0.5 if scale is None else scale
    scores = (q @ k.transpose(-1, -2)) * scale
    return scores.softmax(-1) @ v  # expect: attention recommend


class TwoProducts(nn.Module):
    def forward(self, q, k, v, wide):
        if wide:
            scores = q.float() @ k.float().transpose(-2, -1)
        else:
            scores = q @ (k * 2).transpose(-2, -1)
        return scores.softmax(dim=-1).type_as(v) @ v  # clean: two different keys


def several_numbers(q, k, v):
    scores = q @ k.transpose(-2, -1) * torch.tensor([0.5, 0.25, 0.125, 1.0])
    return scores.softmax(dim=-1) @ v  # clean: one number for each key


def several_new_numbers(q, k, v):
    scores = q @ k.transpose(-2, -1) * q.new_tensor([0.5, 0.25, 0.125, 1.0])
    return scores.softmax(dim=-1) @ v  # clean: one number for each key


def two_tensors(q, k, v, gate: torch.Tensor, other: torch.Tensor = None):
    factor = gate if other is None else other
    scores = q @ k.transpose(-2, -1) * factor
    return scores.softmax(dim=-1) @ v  # clean: a tensor in both arms


class OfItself(nn.Module):
    def __init__(self, heads, length):
        super().__init__()
        self.slopes = nn.Parameter(torch.ones(2, heads, 1, length))
        self.slope = self.of_keys(length)[0]

    def of_keys(self, length):
        return torch.split(self.slopes, 1)

    def forward(self, q, k, v):
        scores = q @ k.transpose(-2, -1) * self.slope
        return scores.softmax(dim=-1) @ v  # clean: a factor a key


class ItemOfTensor(nn.Module):
    def __init__(self, table: torch.Tensor):
        super().__init__()
        self.slope = table[0]

    def forward(self, q, k, v):
        scores = q @ k.transpose(-2, -1) * self.slope
        return scores.softmax(dim=-1) @ v  # clean: a row of a tensor
