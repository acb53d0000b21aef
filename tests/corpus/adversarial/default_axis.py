"""The axis is a parameter, and not the last one, or nothing says which."""
import torch
from torch import nn


class Channels(nn.Module):
    def __init__(self, dim=1):
        super().__init__()
        self.dim = dim

    def forward(self, x):
        return x * torch.rsqrt(torch.mean(x ** 2, dim=self.dim, keepdim=True) + 1e-8)  # clean: channels


class Unknown(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def forward(self, x):
        return x * torch.rsqrt(torch.mean(x ** 2, dim=self.dim, keepdim=True) + 1e-8)  # clean: any axis


class Moved(nn.Module):
    def __init__(self, dim=-1):
        super().__init__()
        self.dim = dim - 1

    def forward(self, x):
        return x * torch.rsqrt(torch.mean(x ** 2, dim=self.dim, keepdim=True) + 1e-8)  # clean: the axis before


def changed(x, dim=-1):
    dim = dim + x.dim() - 1
    return x * torch.rsqrt(torch.mean(x ** 2, dim=dim, keepdim=True) + 1e-8)  # clean: another axis
