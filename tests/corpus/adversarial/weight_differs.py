"""The weight is not one vector over the last axis."""
import torch
import torch.nn as nn


class ColumnWeight(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim, 1))

    def forward(self, x):
        return self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6))  # expect: rms_norm reject


class ScalarWeight(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(1))

    def forward(self, x):
        return self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6))  # expect: rms_norm reject


class HeadWeight(nn.Module):
    def __init__(self, heads, dim):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(heads, dim))

    def forward(self, x):
        return self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6))  # expect: rms_norm reject


class ScalarTensor(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.tensor(1.0))

    def forward(self, x):
        return self.scale * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6))  # expect: rms_norm reject|caution


class TwoPlus(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(dim))

    def forward(self, x):
        h = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)  # expect: rms_norm recommend|caution
        return h * (2 + self.weight)


class ModulatedRows(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.to_scale = nn.Linear(dim, dim)

    def forward(self, x, cond):
        h = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)  # expect: rms_norm recommend|caution
        return h * self.to_scale(cond)[:, None]


class UnsqueezedWeight(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        return self.weight[:, None] * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6))  # expect: rms_norm recommend|caution
