"""An arm of a conditional expression that changes the scores, which are used afterwards."""
import torch
from torch import nn


def scaled(scores, gate):
    scores.mul_(gate)
    return scores


def changed_for_later(q, k, v, gate, use_gate):
    scores = torch.matmul(q, k.transpose(-1, -2)) / 8.0
    gated = scaled(scores, gate) if use_gate else scores
    peak = gated.amax(-1)
    return torch.matmul(scores.softmax(-1), v), peak  # expect: attention caution


def changed_before(q, k, v, gate):
    scores = torch.matmul(q, k.transpose(-1, -2)) / 8.0
    both = (scaled(scores, gate) if gate is not None else scores), scores
    return torch.matmul(both[1].softmax(-1), v)  # expect: attention caution


class LearnedScale(nn.Module):
    def __init__(self, heads, learned):
        super().__init__()
        scale = None
        if learned:
            scale = nn.Parameter(torch.ones(heads, 16, 16))
        self.scale = scale

    def forward(self, q, k, v):
        scores = torch.matmul(q, k.transpose(-1, -2)) / 8.0
        if self.scale is not None:
            scores = scores * self.scale
        return torch.matmul(scores.softmax(-1), v)  # clean: multiplied by a learned tensor
