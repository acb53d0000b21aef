"""One batched product for all experts."""
import torch
import torch.nn.functional as F
from torch import nn


class Experts(nn.Module):
    def __init__(self, n, dim, width, act):
        super().__init__()
        self.n, self.dim, self.act = n, dim, act
        self.first = nn.Parameter(torch.empty(n, dim, width))
        self.both = nn.Parameter(torch.empty(n, dim, 2 * width))
        self.last = nn.Parameter(torch.empty(n, width, dim))

    def plain(self, x):
        h = F.gelu(torch.bmm(x, self.first))  # expect: moe caution
        return torch.bmm(h, self.last)

    def packed(self, x):
        x = x.view(self.n, -1, self.dim)
        gate, up = torch.bmm(x, self.both).chunk(2, dim=-1)  # expect: moe caution
        h = up * F.silu(gate)  # expect: swiglu recommend
        return torch.bmm(h, self.last).view(-1, self.dim)
