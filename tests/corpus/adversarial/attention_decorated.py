"""Helpers that are not what they look like, biases that are no masks."""
import functools

import torch


def halve(f):
    @functools.wraps(f)
    def inner(*args, **kwargs):
        return f(*args, **kwargs).clamp(-5, 5)

    return inner


def swap(f):
    return lambda scores, mask=None: scores * mask


@halve
def add_halved(scores, mask=None):
    return scores if mask is None else scores + mask


@swap
def add_swapped(scores, mask=None):
    return scores if mask is None else scores + mask


def clamped(q, k, v, mask=None):
    scores = add_halved(q @ k.transpose(-2, -1), mask)
    return scores.softmax(dim=-1) @ v  # clean: the decorator clamps


def swapped(q, k, v, mask=None):
    scores = add_swapped(q @ k.transpose(-2, -1), mask)
    return scores.softmax(dim=-1) @ v  # clean: the decorator puts another function there


def small_fill(q, k, v, mask):
    scores = q @ k.transpose(-2, -1)
    bias = torch.zeros_like(scores)
    bias.masked_fill_(mask, -1.0)
    return (scores + bias).softmax(dim=-1) @ v  # allow: attention caution


def positive_fill(q, k, v, mask):
    scores = q @ k.transpose(-2, -1)
    bias = torch.zeros_like(scores)
    bias.masked_fill_(mask, float("inf"))
    return (scores + bias).softmax(dim=-1) @ v  # allow: attention caution


def ones_filled(q, k, v, mask):
    scores = q @ k.transpose(-2, -1)
    bias = torch.ones_like(scores)
    bias.masked_fill_(mask, float("-inf"))
    return (scores + bias).softmax(dim=-1) @ v  # allow: attention caution


def zeros_of_weights(q, k, v, mask):
    scores = q @ k.transpose(-2, -1)
    weights = (scores + scores.masked_fill(mask, float("-inf"))).softmax(dim=-1)
    return weights @ v  # allow: attention caution
