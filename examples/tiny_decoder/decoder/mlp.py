"""The gated feed-forward layer and the activations it may use."""
from torch import nn

ACTIVATIONS = {"silu": nn.SiLU, "gelu": nn.GELU}


class GatedMLP(nn.Module):
    def __init__(self, config):
        super().__init__()
        size = config.intermediate_size
        self.gate_proj = nn.Linear(config.hidden_size, size, bias=False)
        self.up_proj = nn.Linear(config.hidden_size, size, bias=False)
        self.down_proj = nn.Linear(size, config.hidden_size, bias=False)
        self.act_fn = ACTIVATIONS[config.hidden_act]()

    def forward(self, x):
        return self.down_proj(self.act_fn(self.gate_proj(x)) * self.up_proj(x))
