"""Spellings that few people use: einsum as a product, addcmul, comparisons by method."""
import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn


class MeanByEinsum(nn.Module):
    eps = 1e-5

    def __init__(self, d):
        super().__init__()
        self.g = nn.Parameter(torch.ones(d))

    def forward(self, h):
        mean = torch.einsum("...d,...d->...", h, h) / h.shape[-1]
        return torch.einsum("...d,...,d->...d", h, (mean + self.eps).rsqrt(), self.g)  # expect: rms_norm caution


def mean_alone_by_einsum(h, g):
    mean = torch.einsum("bsd,bsd->bs", h, h).div(h.size(-1))
    return h / (mean + 1e-6).sqrt().unsqueeze(-1) * g  # expect: rms_norm recommend


def axis_given_back_to_the_root(x, w, eps: float = 1e-6):
    mean = (x.float() ** 2).mean(dim=-1)
    return (x.float() / (mean + eps).sqrt()[..., None] * w.float()).to(x.dtype)  # expect: rms_norm recommend


def offset_by_addcmul(x, w):
    y = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    return torch.addcmul(y, y, w)  # expect: rms_norm recommend  # expect: gemma_rms_norm caution


def cast_to_the_input(x, w):
    return (v := x.float()).mul(torch.pow(v.square().mean(-1, True) + 1e-6, -0.5)).mul(w).to(x)  # expect: rms_norm recommend


def parts_by_narrow(x, size: int):
    gate = x.narrow(-1, 0, size)
    up = x.narrow(-1, size, size)
    return gate / (1 + torch.exp(-gate)) * up  # expect: swiglu recommend


@dataclass
class Settings:
    width: int = 8
    activation: str = "silu"


class NamedFunction(nn.Module):
    def __init__(self, settings: Settings):
        super().__init__()
        self.settings = settings
        self.a = nn.Linear(settings.width, 16)
        self.b = nn.Linear(settings.width, 16)

    def forward(self, x):
        act = getattr(F, self.settings.activation)
        return act(self.a(x)) * self.b(x)  # expect: swiglu recommend


class LayerAndActivation(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.parts = nn.ModuleDict({
            "gate": nn.Sequential(nn.Linear(d, h, bias=False), nn.SiLU()),
            "up": nn.Linear(d, h, bias=False),
        })

    def forward(self, x):
        return torch.mul(self.parts["gate"](x), self.parts["up"](x))  # expect: swiglu recommend


def halves_stacked(x, cos, sin):
    a, b = x.unflatten(-1, (2, -1)).unbind(dim=-2)
    turned = torch.stack([a * cos - b * sin, b * cos + a * sin], dim=-2)
    return turned.flatten(start_dim=-2)  # expect: rope recommend


def softmax_by_its_logarithm(q, k, v):
    logits = torch.einsum("...qd,...kd->...qk", q, k * (1.0 / math.sqrt(k.size(-1))))
    weights = F.log_softmax(logits, dim=-1).exp()
    return torch.einsum("...qk,...kd->...qd", weights, v)  # expect: attention recommend


class MaskByMethod(nn.Module):
    @staticmethod
    def weigh(q, k, mask=None):
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
        if mask is not None:
            scores = scores.masked_fill(mask.eq(0), -1e9)
        return scores.softmax(-1)

    def forward(self, q, k, v, mask=None):
        return self.weigh(q, k, mask) @ v  # expect: attention recommend
