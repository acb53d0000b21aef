"""Axes by their number that are not the last, or not known to be."""
import torch


def unpacked(x, weight):
    batch, length, width = x.shape
    return x * torch.rsqrt(x.pow(2).mean(1, keepdim=True) + 1e-6) * weight  # clean: the second of three


def four(x, weight):
    batch, channels, height, width = x.shape
    return x * torch.rsqrt(x.pow(2).mean(1, keepdim=True) + 1e-6) * weight  # clean: channels


def asserted(x, weight):
    assert x.dim() == 4
    return x * torch.rsqrt(x.pow(2).mean(2, keepdim=True) + 1e-6) * weight  # clean: the third of four


def in_one_branch(x, weight, flat):
    if flat:
        batch, length, width = x.shape
    return x * torch.rsqrt(x.pow(2).mean(2, keepdim=True) + 1e-6) * weight  # clean: in one branch alone


def at_least(x, weight):
    assert x.dim() >= 3
    return x * torch.rsqrt(x.pow(2).mean(2, keepdim=True) + 1e-6) * weight  # clean: three or more


def of_another(x, y, weight):
    batch, length, width = y.shape
    return x * torch.rsqrt(x.pow(2).mean(2, keepdim=True) + 1e-6) * weight  # clean: the axes of y


def afterwards(x, weight):
    batch, length, width = x.shape
    x = x.unflatten(2, (4, -1))
    return x * torch.rsqrt(x.pow(2).mean(2, keepdim=True) + 1e-6) * weight  # clean: four by now
