"""The activation comes from a table by a configured name."""
from dataclasses import dataclass

import torch
from torch import nn

EXPECT = {"swiglu": 1}

ACTIVATIONS = {"silu": nn.SiLU, "gelu": nn.GELU}


@dataclass
class Config:
    size: int = 16
    inner: int = 24
    hidden_act: str = "silu"


class MLP(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.gate_proj = nn.Linear(config.size, config.inner, bias=False)
        self.up_proj = nn.Linear(config.size, config.inner, bias=False)
        self.act_fn = ACTIVATIONS[config.hidden_act]()

    def forward(self, x):
        return self.act_fn(self.gate_proj(x)) * self.up_proj(x)


def make():
    return MLP(Config())


def inputs(dtype):
    return [(torch.randn(5, 16).to(dtype),)]


def others():
    """Configurations in which the fused branch would be wrong."""
    return [MLP(Config(hidden_act="gelu"))]
