"""Routers that choose one expert for each token."""
import abc

import torch
import torch.nn.functional as F
from torch import nn


class Lanes(nn.Module):
    def __init__(self, width, lanes, block):
        super().__init__()
        self.lanes = lanes
        self.pick = nn.Linear(width, lanes)
        self.prob = nn.Softmax(dim=-1)
        self.blocks = nn.ModuleList([block(width) for _ in range(lanes)])

    def forward(self, tokens):
        share = self.prob(self.pick(tokens))  # expect: moe caution
        best, lane = torch.max(share, dim=-1)
        rows = [torch.eq(lane, i).nonzero(as_tuple=True)[0] for i in range(self.lanes)]
        parts = [self.blocks[i](tokens[rows[i]]) for i in range(self.lanes)]
        out = tokens.new_zeros(tokens.shape)
        for i in range(self.lanes):
            out[rows[i]] = parts[i]
        return out * best.view(-1, 1)


class ByArgmax(nn.Module):
    def __init__(self, width, lanes, block):
        super().__init__()
        self.pick = nn.Parameter(torch.randn(lanes, width))
        self.blocks = nn.ModuleList([block(width) for _ in range(lanes)])

    def forward(self, tokens):
        share = F.linear(tokens, self.pick).softmax(-1)  # expect: moe caution
        lane = share.argmax(dim=-1)
        weight = share.gather(-1, lane.unsqueeze(-1))
        out = torch.zeros_like(tokens)
        for i, block in enumerate(self.blocks):
            out += F.one_hot(lane, len(self.blocks))[:, i, None] * block(tokens)
        return weight * out


class Open(nn.Module):
    """What gives the logits is said by subclasses."""

    def __init__(self, best):
        super().__init__()
        self.best = best

    def choose(self, share):
        if self.best == 1:
            weight, lane = share.max(dim=-1, keepdim=True)
        else:
            weight, lane = torch.topk(share, self.best, dim=-1)
        return weight, lane

    @abc.abstractmethod
    def raw(self, tokens):
        raise NotImplementedError

    def forward(self, tokens):
        share = self.raw(tokens).float().softmax(dim=-1)  # expect: moe caution
        weight, lane = self.choose(share)
        weight = weight / weight.sum(-1, keepdim=True)
        return weight, lane


class Filled(Open):
    def __init__(self, best, width, lanes):
        super().__init__(best)
        self.layer = nn.Linear(width, lanes)

    def raw(self, tokens):
        return self.layer(tokens)
