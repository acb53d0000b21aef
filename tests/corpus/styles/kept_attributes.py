"""Attributes that a class keeps in other ways: a static function, a first parameter of another name."""
import torch.nn.functional as F
from torch import nn


class Kept(nn.Module):
    act = staticmethod(F.silu)

    def __init__(me, dim, hidden):
        super().__init__()
        me.gate, me.up = nn.Linear(dim, hidden), nn.Linear(dim, hidden)
        me.out = nn.GroupNorm(8, hidden)

    def forward(me, x):
        return me.act(me.gate(x)) * me.up(x)  # expect: swiglu recommend

    def normed(self, x):
        return F.silu(self.out(x))  # expect: group_norm_silu caution


class Changed(nn.Module):
    def __init__(me, dim):
        super().__init__()
        me.act = nn.SiLU()
        me.gate, me.up = nn.Linear(dim, dim), nn.Linear(dim, dim)

    def harden(me):
        me.act = nn.ReLU()

    def forward(me, x):
        return me.act(me.gate(x)) * me.up(x)  # allow: swiglu recommend|caution
