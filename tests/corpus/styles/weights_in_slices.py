"""Layers whose weights are taken in slices, the results joined again."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Sliced(nn.Module):
    def __init__(self, dim, inner, slices=2):
        super().__init__()
        self.gate, self.up = nn.Linear(dim, inner, bias=False), nn.Linear(dim, inner, bias=False)
        self.down = nn.Linear(inner, dim, bias=False)
        self.slices, self.inner = slices, inner

    def forward(self, x):
        size = self.inner // self.slices
        gates = self.gate.weight.split(size, dim=0)
        ups = self.up.weight.split(size, dim=0)
        gate = torch.cat([F.linear(x, gates[i]) for i in range(self.slices)], dim=-1)
        up = torch.cat([F.linear(x, ups[i]) for i in range(self.slices)], dim=-1)
        return self.down(F.silu(gate) * up)  # expect: swiglu recommend

    def written_out(self, x, a, b, c, d):
        gate = torch.cat((F.linear(x, a), F.linear(x, b)), dim=-1)
        up = torch.cat((F.linear(x, c), F.linear(x, d)), dim=-1)
        return F.silu(gate) * up  # expect: swiglu recommend

    def other_axes(self, x, a, b, c, d):
        gate = torch.cat((F.linear(x, a), F.linear(x, b)), dim=-1)
        up = torch.cat((F.linear(x, c), F.linear(x, d)), dim=0)
        return F.silu(gate) * up  # expect: swiglu caution

    def other_inputs(self, x, y, a, b):
        gate = torch.cat([F.linear(x, w) for w in a], dim=-1)
        up = torch.cat([F.linear(y, w) for w in b], dim=-1)
        return F.silu(gate) * up  # expect: swiglu caution
