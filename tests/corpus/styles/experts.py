"""Mixtures of experts: loops, batched products, grouped calls."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Loop(nn.Module):
    def __init__(self, n, d, h):
        super().__init__()
        self.w13 = nn.Parameter(torch.empty(n, 2 * h, d))
        self.w2 = nn.Parameter(torch.empty(n, d, h))

    def forward(self, x, ids, weights):
        out = torch.zeros_like(x)
        for e in range(self.w13.shape[0]):  # expect: moe caution
            rows, k = torch.where(ids == e)
            gate, up = F.linear(x[rows], self.w13[e]).chunk(2, dim=-1)
            h = F.silu(gate) * up  # expect: swiglu recommend
            out.index_add_(0, rows, F.linear(h, self.w2[e]) * weights[rows, k, None])
        return out


class Batched(nn.Module):
    def __init__(self, n, d, h):
        super().__init__()
        self.w1 = nn.Parameter(torch.empty(n, d, h))
        self.w3 = nn.Parameter(torch.empty(n, d, h))
        self.w2 = nn.Parameter(torch.empty(n, h, d))

    def forward(self, x):
        h = F.silu(torch.bmm(x, self.w1))  # expect: moe caution
        h = h * torch.bmm(x, self.w3)  # expect: swiglu recommend|caution
        return torch.bmm(h, self.w2)


class Einsum(nn.Module):
    def __init__(self, n, d, h):
        super().__init__()
        self.w1 = nn.Parameter(torch.empty(n, d, h))
        self.w3 = nn.Parameter(torch.empty(n, d, h))

    def forward(self, x):
        gate = torch.einsum("td,edh->eth", x, self.w1)
        up = torch.einsum("td,edh->eth", x, self.w3)
        return F.silu(gate) * up  # expect: swiglu recommend|caution
