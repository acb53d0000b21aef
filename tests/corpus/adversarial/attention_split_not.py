"""A softmax and a product in a function that gets its scores: no attention."""
import torch
import torch.nn.functional as F
from torch import nn


def mix(scores, table):
    return torch.softmax(scores, dim=-1) @ table  # clean: called with what a layer gives


class Quantise(nn.Module):
    """Soft assignment to a codebook: the scores are those of a layer."""

    def __init__(self, width, codes):
        super().__init__()
        self.assign = nn.Linear(width, codes)
        self.codes = nn.Parameter(torch.randn(codes, width))

    def forward(self, x):
        return mix(self.assign(x), self.codes)  # clean: a layer, no queries and keys


def uncalled(scores, v):
    return torch.softmax(scores, dim=-1) @ v  # clean: nobody calls it


def again(scores, v, depth):
    if depth == 0:
        return torch.softmax(scores, dim=-1) @ v  # clean: it calls itself alone
    return again(scores, v, depth - 1)


def nll(scores, target):
    logp = F.log_softmax(scores, dim=-1)  # clean: a loss
    return -(logp * target).sum(-1).mean()


def contrast(a, b, target):
    return nll(a @ b.transpose(-2, -1) / 0.07, target)  # clean: a loss of similarities


def distances(x, y, v):
    gap = -torch.cdist(x, y)
    return mix(gap, v)  # clean: distances are no product


def first_axis(scores, v):
    return torch.softmax(scores, dim=0) @ v  # clean: over another axis


def over_queries(q, k, v):
    return first_axis(q @ k.transpose(-2, -1), v)  # clean: the softmax is not over the keys


def twice(scores, v):
    weights = torch.softmax(scores, dim=-1)
    return weights @ (weights @ v)  # clean: two products of the same weights


def hops(q, k, v):
    return twice(q @ k.transpose(-2, -1), v)  # clean: two hops


def product(a, b):
    return a @ b  # clean: a product of anything


def plain(q, k, v):
    return product(product(q, k.transpose(-2, -1)), v)  # clean: no softmax


class Spectrum:
    """Complex numbers that are no pairs of a tensor."""

    def filter(self, x, gain):
        return torch.view_as_real(x * gain).flatten(2)  # clean: a filter of a spectrum

    def apply(self, x, gain):
        return self.filter(torch.fft.rfft(x), gain)


class Sampler(nn.Module):
    """The best words of a model."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def best(self, logits):
        probs = torch.softmax(logits, dim=-1)
        return torch.topk(probs, 5, dim=-1)  # clean: words of a vocabulary

    def forward(self, ids):
        return self.best(self.model(ids).logits)
