import torch.nn.functional as F
from torch import nn

ACT = {"silu": nn.SiLU, "gelu": nn.GELU}

class Config:
    def __init__(self, act="silu"):
        self.act = act

class Mlp(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.gate, self.up, self.down = (nn.Linear(8, 8) for _ in range(3))
        self.act_fn = ACT[config.act]()

    def forward(self, x):
        return self.down(self.act_fn(self.gate(x)) * self.up(x))

def packed(h):
    a, b = h.chunk(2, dim=-1)
    return F.silu(a) * b
