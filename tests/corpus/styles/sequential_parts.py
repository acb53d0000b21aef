"""nn.Sequential, ModuleDict and ModuleList around the activation."""
import torch.nn as nn


class GateBranch(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.gate = nn.Sequential(nn.Linear(d, h), nn.SiLU())
        self.up = nn.Linear(d, h)

    def forward(self, x):
        return self.gate(x) * self.up(x)  # expect: swiglu recommend|caution


class Named(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.layers = nn.ModuleDict({"g": nn.Linear(d, h), "u": nn.Linear(d, h)})
        self.act = nn.SiLU()

    def forward(self, x):
        return self.act(self.layers["g"](x)) * self.layers["u"](x)  # expect: swiglu recommend|caution


class Many(nn.Module):
    def __init__(self, d, h, n):
        super().__init__()
        self.gates = nn.ModuleList([nn.Linear(d, h) for _ in range(n)])
        self.ups = nn.ModuleList([nn.Linear(d, h) for _ in range(n)])
        self.act = nn.SiLU()

    def forward(self, x):
        out = 0
        for g, u in zip(self.gates, self.ups):
            out = out + self.act(g(x)) * u(x)  # expect: swiglu recommend|caution
        return out
