"""Weights that are turned, filled or handed on, and are no attention for it."""
import torch
import torch.nn.functional as F
from torch import nn


def turned_once(q, k, v):
    """Each key's weights are summed over the queries: columns do not add up to 1."""
    w = torch.bmm(q, k.transpose(1, 2)).softmax(dim=-1)
    return torch.bmm(w.transpose(1, 2), v)  # clean: the weights are turned


def queries_axis(q, k, v):
    w = torch.bmm(q, k.transpose(1, 2)).softmax(dim=1)
    return torch.bmm(w, v)  # clean: softmax over the queries


def not_turned(k, q, v):
    w = torch.bmm(k, q.transpose(1, 2)).softmax(dim=1)
    return torch.bmm(w, v)  # clean: not turned back


def columns_of_queries(v, k, q):
    w = torch.bmm(q.permute(0, 2, 1), k).softmax(dim=-1)
    return torch.bmm(v, w)  # clean: the values are weighted by columns


class TalkingHeads(nn.Module):
    """Weights of all heads are mixed before they are used."""

    def __init__(self, heads):
        super().__init__()
        self.mix = nn.Linear(heads, heads)

    def forward(self, q, k, v):
        w = (q @ k.transpose(-2, -1)).softmax(dim=-1)
        w = self.mix(w.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)
        return w @ v  # clean: heads are mixed


class MixedScores(nn.Module):
    def __init__(self, heads):
        super().__init__()
        self.mix = nn.Conv2d(heads, heads, 1)

    def forward(self, q, k, v):
        w = self.mix(q @ k.transpose(-2, -1)).softmax(dim=-1)
        return w @ v  # clean: heads are mixed


def rolled(q, k, v):
    w = (q @ k.transpose(-2, -1)).softmax(dim=-1).roll(1, -1)
    return w @ v  # clean: the weights are moved


def best_scores(q, k, v):
    scores = q @ k.transpose(-2, -1)
    best = torch.topk(scores, 4, dim=-1)[0]
    return best.softmax(dim=-1) @ v[..., :4, :]  # clean: the best four


def product_of_a_loop(q, k, v, gates):
    scores = q @ k.transpose(-2, -1)
    for gate in gates:
        scores = scores * gate
    return scores.softmax(dim=-1) @ v  # clean: a loop multiplies


def other_fill(q, k, v, hidden, more):
    """More weights are set to 0 than scores were left out."""
    w = (q @ k.transpose(-2, -1)).masked_fill(hidden, float("-inf")).softmax(-1)
    w = w.masked_fill(more, 0.0).masked_fill(hidden, 0.0)
    return w @ v  # allow: attention caution


def sums_of_two(q, k, v, other):
    """Two softmaxes, added: no softmax."""
    w = (q @ k.transpose(-2, -1)).softmax(-1) + other.softmax(-1)
    return w @ v  # clean: the sum of two


def memory(q, k, v, slots):
    """The queries compete for the keys and the weights are averaged again."""
    w = torch.einsum("bqd,bkd->bqk", q, k).softmax(dim=1) + 1e-8
    w = w / w.sum(dim=-1, keepdim=True)
    return torch.einsum("bqk,bkd->bqd", w, v)  # clean: slots compete


def scores_of_graph(h, adjacency, weight):
    """Graph attention: the scores are a sum of two vectors, no product."""
    scores = F.leaky_relu(h @ weight[:8] + (h @ weight[8:]).transpose(-2, -1), 0.2)
    weights = scores.masked_fill(adjacency == 0, -1e9).softmax(-1)  # allow: scaled_masked_softmax caution
    return weights @ h  # clean: no product of queries and keys
