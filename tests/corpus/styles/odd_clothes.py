"""Computations in lambdas with a name, out= arguments and reduce()."""
import torch
import torch.nn.functional as F
from einops import rearrange, reduce
from torch import nn

rms = lambda x, w: w * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6))  # expect: rms_norm caution
gated = lambda gate, up: F.silu(gate) * up  # expect: swiglu caution


class Named(nn.Module):
    turn = lambda self, x, cos, sin: x * cos + torch.cat(  # expect: rope caution
        (-x[..., x.shape[-1] // 2 :], x[..., : x.shape[-1] // 2]), -1) * sin

    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x, cos, sin):
        return gated(rms(x, self.weight), self.turn(x, cos, sin))


def mean_into(x, weight, eps: float = 1e-6):
    mean = torch.empty_like(x[..., :1])
    torch.mean(x * x, dim=-1, keepdim=True, out=mean)
    return x * torch.rsqrt(mean + eps) * weight  # expect: rms_norm caution


def mean_by_words(x, weight):
    mean = reduce(x**2, "... d -> ... 1", "mean")
    return x * torch.rsqrt(mean + 1e-6) * weight  # expect: rms_norm recommend


def mean_by_four_words(x, weight):
    mean = reduce(x.square(), "b s h d -> b s h 1", "mean")
    return x / torch.sqrt(mean + 1e-6) * weight  # expect: rms_norm recommend


def keys_turned_by_words(q, k, v):
    scores = torch.matmul(q, rearrange(k, "b h s d -> b h d s")) * 0.125
    return torch.matmul(scores.softmax(dim=-1), v)  # expect: attention recommend


class ByKind(nn.Module):
    def __init__(self, width, kind="SiLU"):
        super().__init__()
        self.both = nn.Linear(width, 2 * width)
        self.act = getattr(nn, kind)()

    def forward(self, x):
        gate, up = self.both(x).chunk(2, dim=-1)
        return self.act(gate) * up  # expect: swiglu recommend


# A number in front of one of the two belongs to it.
def up_is_scaled(gate, up):
    up = up * 0.5
    gate = gate * 0.5
    return F.silu(gate) * up  # expect: swiglu recommend


def both_are_negated(gate, up):
    gate, up = -gate, -up
    return F.silu(gate) * up  # expect: swiglu recommend
