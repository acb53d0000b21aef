"""One softmax in each arm, one of them over masked scores."""
import torch
from torch import nn

EXPECT = {"attention": 1}


class TwoArms(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.proj = heads, nn.Linear(dim, dim, bias=False)

    def forward(self, x, keep=None):
        x = self.proj(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
        table = x @ x.permute(0, 1, 3, 2) * 0.3
        if keep is None:
            weights = table.softmax(-1)
        else:
            weights = table.masked_fill(~keep, float("-inf")).softmax(-1)
        return (weights @ x).transpose(1, 2).flatten(-2)


def make():
    return TwoArms(24, 3)


def inputs(dtype):
    keep = torch.rand(2, 1, 1, 6, generator=torch.Generator().manual_seed(2)) > 0.3
    keep[..., :1] = True
    x = torch.randn(2, 6, 24).to(dtype)
    return [(x,), (x, keep)]
