"""rms_norm of torch: one call there, several kernels on an NPU."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Given(nn.Module):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.dim, self.eps = dim, eps
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        return F.rms_norm(x, (self.dim,), self.weight, self.eps)  # expect: rms_norm recommend


class Stored(nn.Module):
    def __init__(self, normalized_shape, eps=None):
        super().__init__()
        if isinstance(normalized_shape, int):
            normalized_shape = (normalized_shape,)
        self.normalized_shape = tuple(normalized_shape)
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(normalized_shape))

    def forward(self, x):
        return F.rms_norm(  # expect: rms_norm recommend
            x, normalized_shape=self.normalized_shape, weight=self.weight, eps=self.eps
        )


class Wide(nn.Module):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        wide = x.float()
        y = F.rms_norm(wide, self.weight.shape, self.weight.float(), self.eps)
        return y.to(x.dtype)  # expect: rms_norm recommend


def unit(x):
    return F.rms_norm(x, (x.size(-1),))  # expect: rms_norm recommend


def unit_by_slice(x):
    return torch.rms_norm(x, x.shape[-1:])  # expect: rms_norm recommend


def unit_with_epsilon(x):
    return F.rms_norm(x, [x.shape[-1]], eps=1e-5)  # expect: rms_norm recommend


def unit_of_float32(x):
    return F.rms_norm(x.float(), (x.size(-1),)).type_as(x)  # expect: rms_norm recommend


class OnePlus(nn.Module):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.dim, self.eps = dim, eps
        self.scale = nn.Parameter(torch.zeros(dim))

    def forward(self, x):
        wide = x.float()
        y = F.rms_norm(wide, (self.dim,), eps=self.eps, weight=self.scale.float() + 1.0)
        return y.to(x.dtype)  # expect: rms_norm recommend


class OnePlusTwice(nn.Module):
    """The same sum in two methods."""
    def __init__(self, dim):
        super().__init__()
        self.scale = nn.Parameter(torch.zeros(dim))

    def forward(self, x):
        return F.rms_norm(x, x.shape[-1:], 1 + self.scale, 1e-6)  # expect: rms_norm recommend

    def cast(self, x):
        gamma = (1 + self.scale).to(x.dtype)
        return F.rms_norm(x, x.shape[-1:], gamma, 1e-6)  # expect: rms_norm recommend


def one_plus_without_epsilon(x, scale):
    return F.rms_norm(x, x.shape[-1:], 1 + scale)  # expect: rms_norm recommend
