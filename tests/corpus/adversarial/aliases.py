"""Modules under other names, and names bound to other modules."""
import math as torch_math
import torch as th
from torch import nn, rsqrt as inverse_root
from torch.nn import functional as fn
from torch.nn.functional import silu as swish, gelu as silu


def by_alias(gate, up):
    return swish(gate) * up  # expect: swiglu recommend|caution


def swapped_names(gate, up):
    return silu(gate) * up  # expect: geglu recommend|caution


def by_module(gate, up):
    return th.nn.functional.silu(gate) * up  # expect: swiglu recommend|caution


def by_root(x, w, eps=1e-6):
    return w * (x * inverse_root(th.mean(x * x, dim=-1, keepdim=True) + eps))  # expect: rms_norm recommend|caution


def rebound_module(gate, up):
    fn = up.helpers
    return fn.silu(gate) * up  # clean: fn is an attribute of an argument


class Functional(nn.Module):
    def forward(self, gate, up):
        return fn.silu(gate) * up  # expect: swiglu recommend|caution
