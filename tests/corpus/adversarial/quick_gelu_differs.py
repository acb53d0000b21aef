"""Sigmoids with other slopes, and other arguments."""
import torch


def slope(x):
    return x * torch.sigmoid(1.7 * x)  # clean: 1.7, not 1.702


def other(x, y):
    return x * torch.sigmoid(1.702 * y)  # clean: two tensors


def squared(x):
    return x * x * torch.sigmoid(1.702 * x)  # clean: one factor too many


def shifted(x):
    return x * torch.sigmoid(1.702 * x + 0.1)  # clean: shifted


def exact(x):
    return x * torch.sigmoid(1.702 * x)  # expect: quick_gelu recommend|caution


def learned(x, slope):
    return x * torch.sigmoid(slope * x)  # clean: the slope is an argument
