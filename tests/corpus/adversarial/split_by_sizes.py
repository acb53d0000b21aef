"""Two parts of one split by a list of sizes: as long, not as long, or not to be told."""
import torch.nn.functional as F
from torch import nn


class Sizes(nn.Module):
    def __init__(self, d, h, k):
        super().__init__()
        self.both = nn.Linear(d, 3 * h)
        self.h, self.k = h, k

    def three(self, x):
        gate, up, rest = self.both(x).split([self.h, self.h, self.h], -1)
        return F.silu(gate) * up + rest  # expect: swiglu recommend

    def twice(self, x):
        gate, up = self.both(x).split([self.h, 2 * self.h], -1)
        return F.silu(gate) * up  # clean: twice as long

    def one(self, x):
        gate, up = self.both(x).split([1, 3], -1)
        return F.silu(gate) * up  # clean: one is broadcast

    def others(self, x):
        gate, up = self.both(x).split([self.h, self.k], -1)
        return F.silu(gate) * up  # expect: swiglu caution


def one_and_the_rest(x):
    gate, up = x.split([1, x.size(-1) - 1], -1)
    return F.silu(gate) * up  # expect: swiglu caution
