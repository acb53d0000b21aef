"""Two parts of a split whose second is one wide: it is broadcast."""
import torch.nn as nn
import torch.nn.functional as F


def by_size(x, n=7):
    gate, up = x.split(n, -1)
    return F.silu(gate) * up  # expect: swiglu recommend|caution


class Base(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.w1 = nn.Linear(d, d)
        self.w2 = nn.Linear(d, d)

    def forward(self, x):
        return F.silu(self.w1(x)) * self.w2(x)  # expect: swiglu recommend|caution


class Narrow(Base):
    def __init__(self, d):
        super().__init__(d)
        self.w2 = nn.Linear(d, 1)
