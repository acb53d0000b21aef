"""forward in a base class, sizes in the child."""
import torch
from torch import nn
from torch.nn import functional as F


class Base(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.gate_proj = nn.Linear(d, h, bias=False)
        self.up_proj = nn.Linear(d, h, bias=False)
        self.down_proj = nn.Linear(h, d, bias=False)
        self.act_fn = nn.SiLU()

    def forward(self, x):
        return self.down_proj(self.act_fn(self.gate_proj(x)) * self.up_proj(x))  # expect: swiglu recommend


class Small(Base):
    def __init__(self):
        super().__init__(64, 128)


class NormBase(nn.Module):
    def norm(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)  # allow: rms_norm recommend|caution


class Norm(NormBase):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))
        self.eps = eps

    def forward(self, x):
        return self.weight * self.norm(x)  # expect: rms_norm recommend|caution
