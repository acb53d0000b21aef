"""Exponentials and sums that are no softmax over the keys."""
import torch


def other_shift(k, q, v):
    """What is subtracted differs from key to key: the softmax over the keys sees it."""
    scores = torch.bmm(k, q.transpose(1, 2))
    w = (scores - scores.amax(-1, keepdim=True)).softmax(1)
    return torch.bmm(w.transpose(1, 2), v)  # clean: the largest along the queries


def sum_of_queries(q, k, v):
    e = torch.exp(q @ k.transpose(-2, -1))
    return torch.matmul(e / torch.sum(e, -2, keepdim=True), v)  # clean: columns add up to 1


def axis_not_kept(q, k, v):
    e = torch.exp(q @ k.transpose(-2, -1))
    return torch.matmul(e / torch.sum(e, -1), v)  # clean: divided along another axis


def sum_of_all(q, k, v):
    e = torch.exp(q @ k.transpose(-2, -1))
    return torch.matmul(e / e.sum(), v)  # clean: one sum


def powers_of_two(q, k, v):
    e = torch.exp2(q @ k.transpose(-2, -1))
    return torch.matmul(e / e.sum(-1, keepdim=True), v)  # clean: to the base of two


def sum_of_others(q, k, v, other):
    e, f = torch.exp(q @ k.transpose(-2, -1)), torch.exp(other)
    return torch.matmul(e / f.sum(-1, keepdim=True), v)  # clean: the sum of other scores


def linear(q, k, v):
    """Kernel features: no exponential of the product."""
    s = torch.exp(q) @ torch.exp(k).transpose(-2, -1)
    return (s / s.sum(-1, keepdim=True)) @ v  # clean: a product of exponentials


def smallest(q, k, v):
    s = q @ k.transpose(-2, -1)
    e = torch.exp(s * (s - s.max(-1, keepdim=True)[0]))
    return (e / e.sum(-1, keepdim=True)) @ v  # clean: multiplied by the difference
