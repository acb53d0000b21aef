"""The epsilon stands elsewhere."""
import torch
import torch.nn as nn


def outside(x, w, eps=1e-6):
    return w * x / (torch.sqrt(x.pow(2).mean(-1, keepdim=True)) + eps)  # clean: eps outside of the root


def after_rsqrt(x, w, eps=1e-6):
    return w * x * (torch.rsqrt(x.pow(2).mean(-1, keepdim=True)) + eps)  # clean: eps after the root


def multiplied(x, w, eps=1e-6):
    return w * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) * eps)  # clean: eps multiplies


def subtracted(x, w, eps=1e-6):
    return w * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) - eps)  # clean: eps is taken away


def inside_mean(x, w, eps=1e-6):
    return w * x * torch.rsqrt((x + eps).pow(2).mean(-1, keepdim=True))  # clean: eps on x


def maximum(x, w, eps=1e-6):
    return w * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True).clamp(min=eps))  # clean: clamp instead of add


class LearnedEps(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))
        self.eps = nn.Parameter(torch.zeros(1))

    def forward(self, x):
        return self.weight * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)  # clean: a learned epsilon has a gradient


class LearnedEpsAbs(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))
        self.eps = nn.Parameter(torch.zeros(1))

    def forward(self, x):
        return self.weight * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps.abs())  # clean: a learned epsilon


def tensor_bias(x, w, mask):
    return w * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + mask.float())  # clean: a tensor is added


def row_bias(x, w, y):
    return w * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + y.pow(2).mean(-1, keepdim=True))  # clean: no epsilon but another norm


def two_tensors(x, w, y, eps=1e-6):
    return w * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + y + eps)  # clean: a tensor besides the epsilon
