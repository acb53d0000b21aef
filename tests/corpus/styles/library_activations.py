"""Activations of a library's table, read without the library's files."""
import torch.nn as nn
from transformers.activations import ACT2FN, get_activation


class Settings:
    def __init__(self, hidden_act="silu"):
        self.hidden_act = hidden_act


class ByDefault(nn.Module):
    def __init__(self, config: Settings):
        super().__init__()
        self.gate = nn.Linear(64, 256)
        self.up = nn.Linear(64, 256)
        self.act_fn = ACT2FN[config.hidden_act]

    def forward(self, x):
        return self.act_fn(self.gate(x)) * self.up(x)  # expect: swiglu recommend


class ByArgument(nn.Module):
    def __init__(self, width, act):
        super().__init__()
        self.both = nn.Linear(width, 2 * width)
        self.act = ACT2FN[act]

    def forward(self, x):
        gate, up = self.both(x).chunk(2, dim=-1)
        return self.act(gate) * up  # expect: swiglu caution


class ByCaller(nn.Module):
    def __init__(self, width, act):
        super().__init__()
        self.both = nn.Linear(width, 2 * width)
        self.act = get_activation(act)

    def forward(self, x):
        gate, up = self.both(x).chunk(2, dim=-1)
        return self.act(gate) * up  # expect: swiglu recommend


def build():
    return ByCaller(64, "swish")


class Gelu(nn.Module):
    def __init__(self):
        super().__init__()
        self.wi_0 = nn.Linear(64, 256)
        self.wi_1 = nn.Linear(64, 256)
        self.act = ACT2FN["gelu_pytorch_tanh"]

    def forward(self, x):
        gelu = self.act(self.wi_0(x))
        linear = self.wi_1(x)
        return gelu * linear  # expect: geglu recommend


class AtOnce(nn.Module):
    def forward(self, x):
        gate, up = x.chunk(2, dim=-1)
        return ACT2FN["silu"](gate) * up  # expect: swiglu caution
