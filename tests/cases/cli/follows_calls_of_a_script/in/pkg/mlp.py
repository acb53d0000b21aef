"""The activation is decided by the configuration that train.py makes."""
from torch import nn

ACTIVATIONS = {"silu": nn.SiLU, "gelu": nn.GELU}


class MLP(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.gate = nn.Linear(config.size, config.inner, bias=False)
        self.up = nn.Linear(config.size, config.inner, bias=False)
        self.act = ACTIVATIONS[config.act]()

    def forward(self, x):
        return self.act(self.gate(x)) * self.up(x)
