"""Lambdas, out= arguments and reduce() that compute something else."""
import torch
import torch.nn.functional as F
from einops import reduce
from torch import nn

largest = lambda x, w: w * (x * torch.rsqrt(x.pow(2).amax(-1, keepdim=True) + 1e-6))  # clean: no mean
summed = lambda x, w: w * (x * torch.rsqrt(x.pow(2).sum(-1, keepdim=True) + 1e-6))  # clean: a sum
open_gate = lambda gate, up: torch.sigmoid(gate) * up  # clean: sigmoid


def mean_kept(x, weight, eps: float = 1e-6):
    mean = torch.zeros_like(x[..., :1])
    torch.mean(x * x, dim=-1, keepdim=True, out=mean)
    mean.add_(1.0)
    return x * torch.rsqrt(mean + eps) * weight  # clean: one is added


def mean_of_another(x, y, weight, eps: float = 1e-6):
    mean = torch.empty_like(x[..., :1])
    torch.mean(y * y, dim=-1, keepdim=True, out=mean)
    return x * torch.rsqrt(mean + eps) * weight  # clean: the mean of y


def mean_overwritten(x, weight, eps: float = 1e-6):
    mean = torch.empty_like(x[..., :1])
    torch.mean(x * x, dim=-1, keepdim=True, out=mean)
    torch.amax(x, dim=-1, keepdim=True, out=mean)
    return x * torch.rsqrt(mean + eps) * weight  # clean: overwritten


def sum_by_words(x, weight):
    total = reduce(x**2, "... d -> ... 1", "sum")
    return x * torch.rsqrt(total + 1e-6) * weight  # clean: a sum


def other_axis_by_words(x, weight):
    mean = reduce(x**2, "b s d -> b 1 d", "mean")
    return x * torch.rsqrt(mean + 1e-6) * weight  # clean: another axis


def largest_by_words(x, weight):
    mean = reduce(x**2, "... d -> ... 1", "max")
    return x * torch.rsqrt(mean + 1e-6) * weight  # clean: the largest


class ByKind(nn.Module):
    def __init__(self, width, kind="ReLU"):
        super().__init__()
        self.both = nn.Linear(width, 2 * width)
        self.act = getattr(nn, kind)()

    def forward(self, x):
        gate, up = self.both(x).chunk(2, dim=-1)
        return self.act(gate) * up  # clean: relu
