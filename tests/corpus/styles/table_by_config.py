"""The activation by a table and a configuration."""
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F

ACTIVATIONS = {"gelu": F.gelu, "silu": F.silu, "relu": F.relu}
ACTIVATIONS["swish"] = F.silu
CLASSES = {"gelu": nn.GELU, "silu": nn.SiLU}


@dataclass
class Config:
    dim: int = 256
    hidden: int = 512
    act: str = "silu"
    name: str = "swish"
    eps: float = 1e-6


class ByFunction(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.gate = nn.Linear(config.dim, config.hidden)
        self.up = nn.Linear(config.dim, config.hidden)
        self.act = ACTIVATIONS[config.act]

    def forward(self, x):
        return self.act(self.gate(x)) * self.up(x)  # expect: swiglu recommend|caution


class ByAddedEntry(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.gate = nn.Linear(config.dim, config.hidden)
        self.up = nn.Linear(config.dim, config.hidden)
        self.act = ACTIVATIONS[config.name]

    def forward(self, x):
        return self.act(self.gate(x)) * self.up(x)  # expect: swiglu recommend|caution


class ByClass(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.gate = nn.Linear(config.dim, config.hidden)
        self.up = nn.Linear(config.dim, config.hidden)
        self.act = CLASSES[config.act]()

    def forward(self, x):
        return self.act(self.gate(x)) * self.up(x)  # expect: swiglu recommend|caution


class ByGetattr(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.gate = nn.Linear(config.dim, config.hidden)
        self.up = nn.Linear(config.dim, config.hidden)
        self.act = getattr(F, config.act)

    def forward(self, x):
        return self.act(self.gate(x)) * self.up(x)  # expect: swiglu recommend|caution


class AtCall(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.config = config
        self.gate = nn.Linear(config.dim, config.hidden)
        self.up = nn.Linear(config.dim, config.hidden)

    def forward(self, x):
        act = ACTIVATIONS[self.config.act]
        return act(self.gate(x)) * self.up(x)  # expect: swiglu recommend|caution


class ConfigNorm(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.config = config
        self.weight = nn.Parameter(torch.ones(config.dim))

    def forward(self, x):
        return self.weight * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.config.eps)  # expect: rms_norm recommend
