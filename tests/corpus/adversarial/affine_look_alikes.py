"""Indexed writes, sorts and choices that are something else."""
import numpy as np
import torch
from torch import nn

from kernels import ops


def by_key(table, key):
    table[key] = 0  # clean: a dict or a list may be meant


def of_arrays(image):
    grey = np.asarray(image)
    grey[grey > 0] = 1  # clean: numpy


def at_positions(x: torch.Tensor, positions: torch.LongTensor):
    y = x.clone()
    y[positions] = 0  # clean: positions, not a mask
    return y


def a_tensor_in(x: torch.Tensor, other: torch.Tensor):
    y = x.clone()
    y[y > 0] = other  # clean: not a number
    return y


def a_number_compared(x: torch.Tensor, n):
    y = x.clone()
    y[n > 3] = 0  # clean: True or False, no tensor
    return y


def of_lists(names):
    names.sort()  # clean: a list
    return sorted(names)


def of_floats(x):
    return torch.sort(x.float())  # clean: float32 already


def foreign_sort(ids):
    return ops.sort(ids.long(), 8)  # clean: another library's sort


def positions_of(x: torch.Tensor):
    return torch.where(x > 0)  # clean: positions, no choice


def with_a_number(x: torch.Tensor):
    return torch.where(x > 0, x, 0.0)  # clean: one side is a number


def of_arrays_too(a, b):
    return np.where(a > 0, a, b)  # clean: numpy


class Once(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.steps = torch.arange(size, dtype=torch.float64)  # clean: made once


def on_the_host(size):
    return torch.arange(size, dtype=torch.float64, device="cpu")  # clean: stays on the host


def of_arrays_again(x):
    return np.zeros(3, dtype=np.float64) + x  # clean: numpy
