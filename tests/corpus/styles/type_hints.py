"""Annotations, keyword-only arguments, several assignments at once."""
from __future__ import annotations

from typing import Optional

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class Norm(nn.Module):
    def __init__(self, *, dim: int, eps: float = 1e-5, device: Optional[torch.device] = None) -> None:
        super().__init__()
        self.weight: nn.Parameter = nn.Parameter(torch.ones(dim, device=device))
        self.eps: float = eps

    def forward(self, x: Tensor) -> Tensor:
        dtype: torch.dtype = x.dtype
        x32: Tensor = x.to(dtype=torch.float32)
        ms: Tensor = x32.square().mean(dim=-1, keepdim=True)
        normed: Tensor = x32 * torch.rsqrt(ms + self.eps)
        return normed.to(dtype) * self.weight  # expect: rms_norm recommend


class Glu(nn.Module):
    def __init__(self, d: int, h: int) -> None:
        super().__init__()
        self.gate, self.up = nn.Linear(d, h, bias=False), nn.Linear(d, h, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        gate, up = self.gate(x), self.up(x)
        gate = F.silu(gate)
        y: Tensor = gate * up  # expect: swiglu recommend
        return y
