"""Operators as functions and methods of Python that compute something else."""
import operator

import torch
import torch.nn.functional as F
from torch import nn


class Norm(nn.Module):
    order = {"dim": -1, "keepdim": True}

    def __init__(self, width, dim=1):
        super().__init__()
        self.g = nn.Parameter(torch.ones(width))
        self.dim = {"dim": dim, "keepdim": True}

    def cubed(self, x):
        mean = torch.mean(operator.pow(x, 3), -1, True)
        return operator.mul(self.g, operator.mul(x, torch.rsqrt(operator.add(mean, 1e-6))))  # clean: x ** 3

    def subtracted(self, x):
        mean = x.__pow__(2).mean(-1, keepdim=True)
        return self.g * (x * mean.__rsub__(1e-6).rsqrt())  # clean: 1e-6 - mean

    def divided(self, x):
        root = torch.sqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
        return self.g * x.__rtruediv__(root)  # clean: root / x

    def exponent(self, x):
        mean = x.__rpow__(2).mean(-1, keepdim=True)
        return self.g * (x * torch.rsqrt(mean + 1e-6))  # clean: 2 ** x

    def changed(self, x):
        mean = x.pow(2).mean(-1, keepdim=True)
        x.__imul__(2.0)
        return self.g * (x * torch.rsqrt(mean + 1e-6))  # clean: x changes

    def changed_too(self, x):
        mean = x.pow(2).mean(-1, keepdim=True)
        operator.iadd(x, 1.0)
        return self.g * (x * torch.rsqrt(mean + 1e-6))  # clean: x changes

    def changed_by_aten(self, x):
        mean = x.pow(2).mean(-1, keepdim=True)
        torch.ops.aten.mul_.Tensor(x, 2.0)
        return self.g * (x * torch.rsqrt(mean + 1e-6))  # clean: x changes

    def other_axis(self, x):
        mean = torch.ops.aten.mean.dim(x.pow(2), [1], True)
        return self.g * (x * torch.rsqrt(mean + 1e-6))  # clean: axis 1

    def by_star(self, x):
        where = (1, True)
        return self.g * (x * torch.rsqrt(x.pow(2).mean(*where) + 1e-6))  # clean: axis 1

    def late(self, x):
        mean = x.pow(2).mean(-1, keepdim=True) + 1e-6
        root = mean.rsqrt
        mean.mul_(4.0)
        return self.g * (x * root())  # clean: four times the mean


def floor(gate, up):
    return operator.floordiv(F.silu(gate), up)  # clean: a quotient


def kept(q, k, v):
    scores = torch.ops.aten.matmul(q, torch.ops.aten.transpose(k, -2, -1))
    return torch.ops.aten.matmul(torch.ops.aten._softmax(scores, -2, False), v)  # clean: over the queries


def halves(x, cos, sin):
    half = x.shape[-1] // 2
    left, right = x[..., slice(half)], x[..., slice(half, None)]
    return x * cos + torch.cat([operator.neg(left), right], dim=-1) * sin  # clean: not turned
