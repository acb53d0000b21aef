"""The axis by another name."""
import torch
from torch import nn


class AxisAttribute(nn.Module):
    def __init__(self, size, dim=-1, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.dim = dim
        self.eps = eps

    def forward(self, x):
        norm_x = torch.mean(x * x, dim=self.dim, keepdim=True)
        return x * torch.rsqrt(norm_x + self.eps) * self.weight  # allow: rms_norm recommend|caution


def axis_tuple(x, w, eps=1e-6):
    return w * x * torch.rsqrt(x.pow(2).mean(dim=(-1,), keepdim=True) + eps)  # expect: rms_norm recommend


def axis_list(x, w, eps=1e-6):
    return w * x * torch.rsqrt(x.pow(2).mean([-1], keepdim=True) + eps)  # expect: rms_norm recommend


def axis_count(x, w, eps=1e-6):
    return w * x * torch.rsqrt(x.pow(2).mean(x.dim() - 1, keepdim=True) + eps)  # expect: rms_norm recommend|caution


def unsqueezed(x, w, eps=1e-6):
    return w * x * torch.rsqrt(x.pow(2).mean(-1).unsqueeze(-1) + eps)  # expect: rms_norm recommend|caution


def indexed(x, w, eps=1e-6):
    return w * x * torch.rsqrt(x.pow(2).mean(-1)[..., None] + eps)  # expect: rms_norm recommend|caution
