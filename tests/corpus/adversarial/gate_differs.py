"""Products that are no SwiGLU."""
import torch
import torch.nn as nn
import torch.nn.functional as F


def both(a, b):
    return F.silu(a) * F.silu(b)  # expect: swiglu caution|recommend


def itself(gate):
    return F.silu(gate) * gate  # clean: one tensor only


def added(gate, up):
    return F.silu(gate + up) * up  # expect: swiglu caution|recommend


def sigmoid(gate, up):
    return torch.sigmoid(gate) * up  # clean: GLU


def glu(x):
    return F.glu(x, dim=-1)  # clean: GLU


def relu(gate, up):
    return F.relu(gate) * up  # clean: ReGLU


def mish(gate, up):
    return F.mish(gate) * up  # clean: another activation


def hardswish(gate, up):
    return F.hardswish(gate) * up  # clean: another activation


def beta(gate, up):
    return gate * torch.sigmoid(1.5 * gate) * up  # clean: swish with another slope


def gelu_tanh_inner(gate, up):
    return 0.5 * gate * (1 + torch.tanh(gate)) * up  # clean: no GELU


def summed(gate, up):
    return F.silu(gate) + up  # clean: a sum


def divided(gate, up):
    return F.silu(gate) / up  # expect: swiglu reject|caution


def matmul(gate, up):
    return F.silu(gate) @ up  # clean: a matrix product


def one_plus(gate, up):
    return F.silu(gate) * (1 + up)  # expect: swiglu caution


def masked(gate, mask):
    return F.silu(gate) * mask.unsqueeze(-1)  # clean: a mask over the last axis


def scalar(gate):
    return F.silu(gate) * 2.0  # clean: a number


class Learned(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(1))

    def forward(self, gate):
        return F.silu(gate) * self.scale  # clean: a learned scalar


def wrong_sigmoid(gate, up):
    return gate * torch.sigmoid(up) * up  # expect: swiglu caution|recommend


def outer(gate, up):
    return F.silu(gate).unsqueeze(-1) * up.unsqueeze(-2)  # clean: an outer product


def column(gate, up):
    return F.silu(gate[..., None]) * up  # clean: broadcast


def first_column(x):
    return F.silu(x[..., :1]) * x[..., 1:]  # clean: one column is broadcast over the others


def last_column(x):
    return F.silu(x[..., -1:]) * x[..., :-1]  # clean: one column is broadcast over the others


def rows(x):
    return F.silu(x[:, :1]) * x[:, 1:]  # clean: one row is broadcast


def gated_twice(x):
    gate, up = x.chunk(2, dim=-1)
    return F.silu(gate) * up * F.silu(gate)  # allow: swiglu caution
