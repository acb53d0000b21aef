"""The operator stands behind a function or module of the project; the form is its fallback."""
import torch
from torch import nn

try:
    import torch_npu
except ImportError:
    torch_npu = None


def npu_here():
    return torch_npu is not None and torch.npu.is_available()


def fused(x, weight, eps):
    return torch_npu.npu_rms_norm(x, weight, epsilon=eps)[0]


class Fused(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        return fused(x, self.weight, 1e-6)


class Base(nn.Module):
    def __init__(self, dim, eps=1e-6, fast=False):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))
        self.eps, self.fast = eps, fast
        self.other = Fused(dim)


class Leaves(Base):
    def forward(self, x):
        if self.fast and npu_here():
            return fused(x, self.weight, self.eps)
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight  # clean: the fallback


class Else(Base):
    def forward(self, x):
        if not npu_here():
            y = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight  # clean: the fallback
        else:
            y = self.other(x)
        return y


class Chosen(Base):
    def eager(self, x):
        return x

    def forward(self, x):
        return fused(x, self.weight, self.eps) if self.fast else (
            x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight)  # clean: the fallback


class Both(Base):
    def forward(self, x, y):
        y = fused(y, self.weight, self.eps)
        return y + x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight  # expect: rms_norm recommend


class Another(Base):
    def forward(self, x):
        if self.fast:
            return fused(x, self.weight, self.eps)
        x = torch.nn.functional.silu(x) * self.other(x)  # allow: swiglu recommend|caution
        return x
