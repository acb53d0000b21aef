"""Helpers defined within methods."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Inside(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.wi = nn.Linear(d, 2 * h)
        self.wo = nn.Linear(h, d)

        def swiglu(x):
            x = torch.chunk(x, 2, dim=-1)
            return F.silu(x[0]) * x[1]  # expect: swiglu recommend

        self.activation_func = swiglu

    def forward(self, x):
        return self.wo(self.activation_func(self.wi(x)))


def build(eps):
    def norm(x, w):
        return w * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)  # expect: rms_norm recommend|caution

    return norm


def tables_around(q, k, freqs):
    cos, sin = freqs.cos()[None, None], freqs.sin()[None, None]

    def turned(x):
        x1, x2 = x.float().chunk(2, -1)
        return torch.cat([x1 * cos - x2 * sin, x1 * sin + x2 * cos], -1).type_as(x)  # expect: rope recommend

    return turned(q), turned(k)


def norm_around(x, weight, eps=1e-6):
    def norm(h):
        return h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + eps)  # allow: rms_norm recommend|caution

    return norm(x.float()).type_as(x) * weight  # expect: rms_norm recommend|caution
