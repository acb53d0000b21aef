"""Beside a norm or a softmax, and still not the operator's formula."""
import torch
from torch import nn
import torch.nn.functional as F


class Different(nn.Module):
    def __init__(self, size, learned):
        super().__init__()
        self.plain = nn.LayerNorm(size, elementwise_affine=False)
        self.maybe = nn.LayerNorm(size, elementwise_affine=learned)
        self.unbiased = nn.LayerNorm(size, bias=False)
        self.group = nn.GroupNorm(4, size, affine=False)
        self.norm = nn.LayerNorm(size)
        self.groups = nn.GroupNorm(4, size)
        self.batch = nn.BatchNorm2d(size)
        self.act = nn.ReLU()
        self.silu = nn.SiLU()

    def no_weight(self, x, y):
        return self.plain(x + y)  # clean: the operator takes a weight

    def unknown_weight(self, x, y):
        return self.maybe(x + y)  # clean: there may be no weight

    def no_bias(self, x, y):
        return self.unbiased(x + y)  # clean: the operator takes a bias

    def product(self, x, y):
        return self.norm(x * y)  # clean: a product, not a sum

    def number(self, x):
        return self.norm(x + 1.0)  # clean: a number is added

    def between(self, x, y):
        return self.norm(torch.tanh(x + y))  # clean: tanh comes between

    def group_without_weight(self, x):
        return self.silu(self.group(x))  # clean: no weight

    def other_activation(self, x):
        return self.act(self.groups(x))  # clean: ReLU

    def other_norm(self, x):
        return self.silu(self.batch(x))  # clean: batch norm

    def norm_behind(self, x):
        return self.groups(self.silu(x))  # clean: the norm comes last

    def half_of_it(self, x):
        h = self.groups(x)
        return h * torch.sigmoid(x)  # clean: another tensor is the gate


def filled_with_zero(scores, hidden):
    return F.softmax(scores.masked_fill(hidden, 0.0), dim=-1)  # clean: zero is a score like any other


def filled_a_little(scores, hidden):
    return F.softmax(scores.masked_fill(hidden, -100.0), dim=-1)  # clean: -100 is a score like any other


def other_axis(scores, hidden):
    return F.softmax(scores.masked_fill(hidden, -1e9), dim=1)  # clean: another axis


def log_of_it(scores, hidden):
    return F.log_softmax(scores.masked_fill(hidden, -1e9), dim=-1)  # clean: its logarithm


def sigmoid_of_it(scores, hidden):
    return torch.sigmoid(scores.masked_fill(hidden, -1e9))  # clean: no softmax


def builtin_of_two_plus(x, scale):
    return torch.rms_norm(x, x.shape[-1:], 2 + scale, 1e-6)  # clean: two is added to the weight


def builtin_of_one_less(x, scale):
    return torch.rms_norm(x, x.shape[-1:], 1 - scale, 1e-6)  # clean: the weight is subtracted
