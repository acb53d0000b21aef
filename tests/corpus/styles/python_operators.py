"""Operators as functions and methods of Python, functions of ATen, arguments by stars."""
import operator

import torch
import torch.nn.functional as F
from operator import truediv
from torch import nn

aten = torch.ops.aten


class Functions(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.bias = nn.Parameter(torch.ones(width))

    def forward(self, x):
        mean = torch.mean(operator.pow(x, 2), -1, True)
        return operator.mul(self.bias, operator.mul(x, torch.rsqrt(operator.add(mean, 1e-6))))  # expect: rms_norm recommend


class Aten(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.g = nn.Parameter(torch.ones(width))

    def forward(self, x):
        mean = torch.ops.aten.mean.dim(torch.ops.aten.pow.Tensor_Scalar(x, 2), [-1], True)
        root = aten.rsqrt.default(aten.add.Scalar(mean, 1e-5))
        return aten.mul.Tensor(aten.mul.Tensor(x, root), self.g)  # expect: rms_norm recommend


class Dunders(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.g = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return self.g.__mul__(x.__mul__(x.__pow__(2).mean(-1, keepdim=True).__add__(1e-5).rsqrt()))  # expect: rms_norm recommend


class Reflected(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.g = nn.Parameter(torch.ones(width))

    def forward(self, x):
        root = x.__mul__(x).mean(-1, keepdim=True).__radd__(1e-5).sqrt()
        return x.__truediv__(root).__rmul__(self.g)  # expect: rms_norm recommend


class ByGetattr(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.register_parameter("beta", nn.Parameter(torch.ones(width)))

    def forward(self, x):
        mean = x.pow(2).mean(-1, keepdim=True) + 1e-6
        return getattr(torch, "mul")(x * getattr(mean, "rsqrt")(), self.beta)  # expect: rms_norm recommend


class Stars(nn.Module):
    kept = {"dim": -1, "keepdim": True}

    def __init__(self, width):
        super().__init__()
        self.g = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(**self.kept) + 1e-6) * self.g  # expect: rms_norm recommend

    def plain(self, x):
        last = (-1, True)
        return truediv(x, torch.sqrt(x.pow(2).mean(*last) + 1e-6)) * self.g  # expect: rms_norm recommend


class Forwarded(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.both = nn.Linear(width, 2 * width)
        self.swish = nn.SiLU()

    def forward(self, x):
        low, high = slice(None, x.shape[-1]), slice(x.shape[-1], None)
        both = self.both(x)
        return self.swish.forward(both[..., low]) * both[..., high]  # expect: swiglu recommend

    def called(self, x):
        gate, up = self.both(x).chunk(2, dim=-1)
        return operator.mul(self.swish.__call__(gate), up)  # expect: swiglu recommend


def rotated(x, cos, sin):
    half = x.shape[-1] // 2
    left = operator.getitem(x, (..., slice(0, half)))
    right = operator.getitem(x, (..., slice(half, None)))
    turned = torch.cat([operator.neg(right), left], dim=-1)
    return operator.add(operator.mul(x, cos), operator.mul(turned, sin))  # expect: rope recommend


def attended(q, k, v):
    scores = aten.div(aten.matmul(q, aten.transpose(k, -2, -1)), 2.0)
    return aten.matmul(aten._softmax(scores, -1, False), v)  # expect: attention recommend


def weighed(q, k, v):
    scores = q @ k.swapaxes(-1, -2)
    return F.softmax(scores.div(2.0), dim=3).__matmul__(v)  # expect: attention recommend
