"""Neighbours of experts: no routing, no sum, one layer for all."""
import torch
from torch import nn


class PutOver(nn.Module):
    def __init__(self, d, n):
        super().__init__()
        self.parts = nn.ModuleList(nn.Linear(d, d) for _ in range(n))

    def forward(self, x, kind, out):
        for i, part in enumerate(self.parts):
            out.index_put_((kind[i],), part(x), accumulate=False)  # clean: every row, written over
        return out


class Heads(nn.Module):
    def __init__(self, d, n):
        super().__init__()
        self.parts = nn.ModuleList(nn.Linear(d, 4) for _ in range(n))

    def forward(self, x):
        return torch.cat([part(x) for part in self.parts], -1)  # clean: all rows to all


class Pieces(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.parts = nn.ModuleList(layers)

    def forward(self, x):
        shares = x.split(16, -1)
        return torch.cat([part(share) for part, share in zip(self.parts, shares)], -1)  # clean: columns


class OneLayer(nn.Module):
    def __init__(self, d, f):
        super().__init__()
        self.first = nn.Parameter(torch.randn(d, f))
        self.last = nn.Parameter(torch.randn(f, d))

    def forward(self, x):
        h = torch.relu(torch.einsum("ecd,df->ecf", x, self.first))
        return torch.einsum("ecf,fd->ecd", h, self.last)  # clean: one weight for all


class MixedAxes(nn.Module):
    def __init__(self, e, d, f):
        super().__init__()
        self.first = nn.Parameter(torch.randn(e, d, f))
        self.last = nn.Parameter(torch.randn(e, f, d))

    def forward(self, x):
        h = torch.relu(torch.einsum("bcd,edf->bef", x, self.first))
        return torch.einsum("bef,efd->bd", h, self.last)  # clean: summed over all
