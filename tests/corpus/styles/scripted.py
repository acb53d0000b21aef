"""Helpers under jit and compile."""
import torch
import torch.nn.functional as F
from torch import nn


@torch.jit.script
def swiglu(y):
    a, b = torch.chunk(y, 2, -1)
    return F.silu(a) * b  # expect: swiglu caution


@torch.compile
def rms(x, w, eps: float):
    return w * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps))  # expect: rms_norm recommend


@torch.compile(dynamic=True)
def gate_up(gate, up):
    return F.silu(gate) * up  # expect: swiglu recommend|caution


def _plain(x):
    d = x.shape[-1] // 2
    return F.silu(x[..., :d]) * x[..., d:]  # expect: swiglu recommend


fast = torch.compile(_plain)


class Mlp(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.gate_up = nn.Linear(d, 8 * d)
        self.down = nn.Linear(4 * d, d)

    def forward(self, x):
        return self.down(fast(self.gate_up(x)))
