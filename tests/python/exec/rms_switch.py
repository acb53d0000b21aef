"""The project has a switch, and one class that was never given it."""
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F

EXPECT = {"rms_norm": 3}


@dataclass
class Config:
    head_dim: int = 16
    eps: float = 1e-6
    use_fused_rmsnorm: bool = False


class Norm(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(config.head_dim) + 0.5)
        self.eps = config.eps
        self.use_fused_rmsnorm = config.use_fused_rmsnorm

    def forward(self, x):
        if self.use_fused_rmsnorm and x.dtype == torch.float64:
            return F.rms_norm(x, self.weight.shape, self.weight, self.eps)
        h = x.float()
        h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + self.eps)
        return self.weight * h.to(x.dtype)


class HeadNorm(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.config = config
        self.weight = nn.Parameter(torch.rand(config.head_dim) + 0.5)

    def forward(self, x):
        h = x.float()
        scale = torch.rsqrt(h.square().mean(-1, keepdim=True) + self.config.eps)
        return (h * scale * self.weight).type_as(x)


def make():
    config = Config()
    return nn.Sequential(Norm(config), HeadNorm(config))


def enable(made):
    """Turns the project's own switch on."""
    for module in made:
        if hasattr(module, "config"):
            module.config.use_fused_rmsnorm = True
        else:
            module.use_fused_rmsnorm = True


def inputs(dtype):
    return [(torch.randn(2, 3, 4, 16).to(dtype),)]
