"""Inside a loop over experts, where an expert may get no token."""
import torch
from torch import nn
import torch.nn.functional as F

EXPECT = {"swiglu": 1}


class Experts(nn.Module):
    def __init__(self, count, size, inner):
        super().__init__()
        self.up = nn.Parameter(torch.randn(count, 2 * inner, size) * 0.2)
        self.down = nn.Parameter(torch.randn(count, size, inner) * 0.2)

    def forward(self, tokens, chosen):
        output = torch.zeros_like(tokens)
        for e in range(self.up.shape[0]):
            rows = torch.where(chosen == e)[0]
            gate, up = F.linear(tokens[rows], self.up[e]).chunk(2, dim=-1)
            current = F.linear(F.silu(gate) * up, self.down[e])
            output.index_add_(0, rows, current.to(output.dtype))
        return output


def make():
    return Experts(3, 16, 8)


def inputs(dtype):
    chosen = torch.tensor([0, 2, 2, 0, 2])  # the expert 1 is idle
    return [(torch.randn(5, 16).to(dtype), chosen)]
