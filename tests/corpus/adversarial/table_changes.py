"""A table of activations whose entries are not what their keys say, or change."""
import torch
import torch.nn as nn
import torch.nn.functional as F

LYING = {"silu": F.gelu, "gelu": F.silu}
CHANGED = {"silu": F.silu, "gelu": F.gelu}
CHANGED["silu"] = F.relu
UPDATED = {"silu": F.silu}
UPDATED.update(silu=torch.tanh)
GOOD = {"silu": F.silu, "gelu": F.gelu}


def lying(gate, up):
    return LYING["silu"](gate) * up  # expect: geglu recommend|caution


def lying_gelu(gate, up):
    return LYING["gelu"](gate) * up  # expect: swiglu recommend|caution


def changed(gate, up):
    return CHANGED["silu"](gate) * up  # clean: the entry was replaced by ReLU


def updated(gate, up):
    return UPDATED["silu"](gate) * up  # clean: the entry was replaced by tanh


def good(gate, up):
    return GOOD["silu"](gate) * up  # expect: swiglu recommend|caution


def by_key(gate, up, key):
    return GOOD[key](gate) * up  # expect: swiglu caution


class Table(nn.Module):
    def __init__(self, d, act="gelu"):
        super().__init__()
        self.w1, self.w2 = nn.Linear(d, d), nn.Linear(d, d)
        self.act = GOOD[act]

    def forward(self, x):
        return self.act(self.w1(x)) * self.w2(x)  # expect: geglu recommend|caution
