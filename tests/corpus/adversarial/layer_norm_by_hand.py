"""Norms that look like an RMS norm and subtract a mean somewhere."""
import torch
import torch.nn as nn


class CentredNorm(nn.Module):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))
        self.eps = eps

    def forward(self, x):
        x = x - x.mean(-1, keepdim=True)
        var = x.pow(2).mean(-1, keepdim=True)
        return self.weight * (x * torch.rsqrt(var + self.eps))  # clean: layer norm


class VarNorm(nn.Module):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))
        self.eps = eps

    def forward(self, x):
        var = x.var(-1, keepdim=True, unbiased=False)
        return self.weight * x * torch.rsqrt(var + self.eps)  # clean: variance is centred


class VarianceByMoments(nn.Module):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))
        self.eps = eps

    def forward(self, x):
        m = x.mean(-1, keepdim=True)
        ms = x.pow(2).mean(-1, keepdim=True)
        return self.weight * x * torch.rsqrt(ms - m * m + self.eps)  # clean: ms - m^2


class CentredHelper(nn.Module):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))
        self.eps = eps

    def centre(self, x):
        return x - x.mean(dim=-1, keepdim=True)

    def forward(self, x):
        c = self.centre(x).float()
        c = c * torch.rsqrt(c.square().mean(-1, keepdim=True) + self.eps)  # clean: centred in a method
        return c * self.weight
