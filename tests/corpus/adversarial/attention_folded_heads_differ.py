"""Views of scores that are no folding of batch and heads, and keys of one head."""
import torch
import torch.nn.functional as F


def regrouped(q, k, v):
    q, k = q.view(2, 4, 6, 8), k.view(2, 4, 6, 8)
    scores = torch.matmul(q, k.transpose(-2, -1))
    weights = F.softmax(scores.view(8, 12, 3), dim=-1)
    return torch.bmm(weights, v)  # clean: a row of the softmax is half a row of the scores


def keys_of_one_head(q, k, v, batch, heads, length, keys, width):
    q, k = q.view(batch, heads, length, width), k.view(batch, 1, keys, width)
    scores = torch.matmul(q, k.transpose(-2, -1))
    weights = F.softmax(scores.view(batch * heads, length, keys), dim=-1)
    return torch.bmm(weights, v)  # expect: attention caution


def keys_may_be_broadcast(q, k, v):
    batch, heads, length, width = q.shape
    scores = torch.matmul(q.view(batch, heads, length, width), k.transpose(-2, -1))
    weights = F.softmax(scores.view(batch * heads, length, k.shape[2]), dim=-1)
    return torch.bmm(weights, v)  # expect: attention caution


def one_key(q, k, v, batch, heads, length):
    scores = torch.bmm(q, k.transpose(1, 2)).view(batch * heads * length, -1, 1)
    weights = F.softmax(scores, dim=1)
    return torch.bmm(weights.transpose(1, 2), v)  # clean: a softmax over a part of a row
