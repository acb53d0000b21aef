"""Softmax of scores that a mask fills, with and without attention around it."""
import torch
import torch.nn.functional as F


def probabilities(scores, mask):
    scores = (scores * 0.125).masked_fill(mask, -10000.0)
    return torch.softmax(scores, dim=-1)  # expect: scaled_masked_softmax caution


def chosen(scores, keep):
    low = torch.finfo(scores.dtype).min
    return torch.where(keep, scores / 8, low).softmax(-1)  # expect: scaled_masked_softmax caution


def turned(scores, keep):
    return F.softmax(torch.where(keep.logical_not(), float("-inf"), scores), 3)  # expect: scaled_masked_softmax caution


def in_place(scores, mask):
    scores.masked_fill_(mask, -65504.0)
    return F.softmax(scores.float(), dim=-1)  # expect: scaled_masked_softmax caution


def zeros_are_no_mask(scores, mask):
    return torch.softmax(scores.masked_fill(mask, 0.0), dim=-1)


def small(scores, mask):
    return torch.softmax(scores.masked_fill(mask, -100.0), dim=-1)


def other_axis(scores, mask):
    return torch.softmax(scores.masked_fill(mask, -10000.0), dim=1)


def both_low(keep):
    return torch.softmax(torch.where(keep, -20000.0, -10000.0), dim=-1)


def attention(q, k, v, mask):
    scores = (q @ k.transpose(-1, -2) * 0.125).masked_fill(mask, -10000.0)
    return torch.softmax(scores, dim=-1) @ v  # expect: attention recommend
