"""Tables of a library that hold something else, or are no longer the library's."""
import torch
import torch.nn as nn
from transformers.activations import ACT2FN
from other.activations import ACT2FN as OTHERS
from other.activations import TABLE


class Relu(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = ACT2FN["relu"]

    def forward(self, x):
        gate, up = x.chunk(2, dim=-1)
        return self.act(gate) * up  # clean: relu


class Sigmoid(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = ACT2FN["sigmoid"]

    def forward(self, x):
        gate, up = x.chunk(2, dim=-1)
        return self.act(gate) * up  # clean: a gate without its own factor


class Quick(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = ACT2FN["quick_gelu"]

    def forward(self, x):
        gate, up = x.chunk(2, dim=-1)
        return self.act(gate) * up  # clean: another gelu


class Foreign(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = OTHERS["silu"]
        self.also = TABLE["silu"]

    def forward(self, x):
        gate, up = x.chunk(2, dim=-1)
        return self.act(gate) * up + self.also(gate) * up  # clean: tables that nothing is known of


class Wrapped(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = nn.Sequential(ACT2FN["silu"], nn.Dropout(0.1))

    def forward(self, x):
        gate, up = x.chunk(2, dim=-1)
        return self.act(gate) * up  # clean: dropout between


class Kept(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = ACT2FN["silu"]

    def forward(self, x):
        gate, up = x.chunk(2, dim=-1)
        open_gate = self.act(gate)
        return open_gate * up, open_gate  # allow: swiglu caution


class Axis(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = ACT2FN["silu"]

    def forward(self, x):
        gate, up = x.chunk(2, dim=0)
        return torch.relu(self.act(gate)) * up  # clean: relu of silu
