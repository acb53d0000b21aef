import torch
from torch import nn


class RMSNorm(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = x.float()
        h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-6)
        return (h * self.weight).to(x.dtype)


class ClampedMLP(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.gate = nn.Linear(width, width)
        self.up = nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.silu(self.gate(x).clamp(max=7.0)) * self.up(x)


class MLP(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.gate = nn.Linear(width, width)
        self.up = nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.silu(self.gate(x)) * self.up(x)
