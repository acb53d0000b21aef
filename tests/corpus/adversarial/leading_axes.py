"""Sets of axes that do not begin at the last one."""
import torch
from torch import nn


class AllButFirst(nn.Module):
    def __init__(self, rank, eps=1e-6):
        super().__init__()
        self.axes = tuple(range(1, rank))
        self.eps = eps

    def forward(self, x):
        mean = x.pow(2).mean(dim=self.axes, keepdim=True)
        return x * torch.rsqrt(mean + self.eps)  # clean: over all axes but the first


class Chosen(nn.Module):
    def __init__(self, axes, eps=1e-6):
        super().__init__()
        self.axes = tuple(axes)
        self.eps = eps

    def forward(self, x):
        mean = x.pow(2).mean(dim=self.axes, keepdim=True)
        return x * torch.rsqrt(mean + self.eps)  # clean: the caller chooses


def leading(x, count, eps: float = 1e-6):
    axes = tuple(range(count))
    return x * torch.rsqrt(x.pow(2).mean(axes, keepdim=True) + eps)  # clean: leading axes


def before_last(x, count, eps: float = 1e-6):
    axes = tuple(range(-count, -1))
    return x * torch.rsqrt(x.pow(2).mean(axes, keepdim=True) + eps)  # clean: the last is left


def flat(x, shape, eps: float = 1e-6):
    axes = tuple(range(-len(shape), 0))
    return x * torch.rsqrt(x.pow(2).mean(axes) + eps)  # clean: the axes are not kept
