"""einsum by its other names; one product in two dtypes; numbers in tensors of no axes."""
import math

import opt_einsum
import torch
import torch.functional
import torch.nn.functional as F
from opt_einsum import contract as einsum
from torch import nn


def contracted(q, k, v):
    weights = F.softmax(einsum("bqhd,bkhd->bhqk", q * 0.125, k), dim=-1)
    return einsum("bhqk,bkhd->bqhd", weights, v)  # expect: attention recommend


def contracted_by_its_module(q, k, v):
    weights = F.softmax(opt_einsum.contract("bqhd,bkhd->bhqk", q, k), dim=-1)
    return opt_einsum.contract("bhqk,bkhd->bqhd", weights, v)  # expect: attention recommend


def functional(q, k, v):
    weights = F.softmax(torch.functional.einsum("bhqd,bhkd->bhqk", q, k) * 0.5, dim=-1)
    return torch.functional.einsum("bhqk,bhkd->bhqd", weights, v)  # expect: attention recommend


class Wide(nn.Module):
    def __init__(self, wide=False):
        super().__init__()
        self.wide = wide

    def forward(self, q, k, v):
        if self.wide:
            scores = q.float() @ k.float().transpose(-2, -1)
        else:
            scores = q @ k.transpose(-2, -1)
        weights = (scores * 0.125).softmax(dim=-1).type_as(v)
        return weights @ v  # expect: attention recommend


def reference(q, k, v, scale: torch.Tensor = None):
    if scale is None:
        factor = torch.tensor(1 / math.sqrt(q.size(-1)))
    else:
        factor = scale
    weights = torch.softmax(q @ k.transpose(-2, -1) * factor, dim=-1)
    return weights @ v  # expect: attention caution


def new_number(q, k, v):
    weights = torch.softmax(q @ k.transpose(-2, -1) / q.new_tensor(8.0), dim=-1)
    return weights @ v  # expect: attention recommend|caution


class StoredRoot(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.register_buffer("root", torch.sqrt(torch.tensor(width, dtype=torch.float32)))

    def forward(self, q, k, v):
        scores = q @ k.transpose(-1, -2) / self.root
        return scores.softmax(dim=-1) @ v  # expect: attention recommend|caution
