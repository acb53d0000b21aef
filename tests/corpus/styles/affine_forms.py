"""Plain torch that the NPU is slow at, however it is written."""
import math

import torch
from torch import nn

IGNORED = -100


def ignore_padding(ids: torch.Tensor, padding):
    labels = ids.clone()
    labels[labels == padding] = IGNORED  # expect: affinity caution
    return labels


def forbid(scores, allowed):
    scores = torch.softmax(scores, -1)
    scores[~allowed.bool()] = -math.inf  # expect: affinity caution
    return scores


def of_both(x, low, high):
    y = x.contiguous()
    y[(y < low) | y.gt(high)] = 0.0  # expect: affinity caution
    return y


def without_nan(x):
    y = torch.zeros_like(x)
    y[torch.isnan(x)] = float("inf")  # expect: affinity caution
    return y


def group_tokens(logits, k):
    weights, experts = torch.topk(logits, k, dim=-1)
    order = experts.view(-1).argsort(stable=True)  # expect: affinity caution
    return weights, order


def undo(noise):
    shuffled = torch.argsort(noise, dim=1)
    return shuffled, torch.argsort(shuffled, dim=1)  # expect: affinity caution


def sort_ids(ids):
    return torch.sort(ids.long(), descending=True)  # expect: affinity caution


def choose(x: torch.Tensor, y: torch.Tensor):
    return torch.where(x > 0, x, y)  # expect: affinity reject


class Tables(nn.Module):
    def forward(self, x, length):
        steps = torch.arange(length, dtype=torch.float64, device=x.device)  # expect: affinity caution
        turns = torch.polar(torch.ones_like(steps), steps)  # expect: affinity caution
        return x.softmax(-1).double(), turns  # expect: affinity caution
