"""Gate and up out of layers that the project writes itself."""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

WORLD = 4


class Shard(nn.Module):
    def __init__(self, features, out, bias=False):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(out // WORLD, features))
        self.bias = nn.Parameter(torch.zeros(out // WORLD)) if bias else None

    def forward(self, x):
        y = F.linear(x, self.weight)
        if self.bias is not None:
            y += self.bias
        return y


class Gather(nn.Module):
    def __init__(self, features, out):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(out, features // WORLD))
        self.bias = nn.Parameter(torch.zeros(out))

    def forward(self, x):
        y = F.linear(x, self.weight)
        dist.all_reduce(y)
        y += self.bias
        return y


class FeedForward(nn.Module):
    def __init__(self, features, hidden):
        super().__init__()
        self.w1 = Shard(features, hidden)
        self.w2 = Gather(hidden, features)
        self.w3 = Shard(features, hidden)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))  # expect: swiglu recommend

    def named(self, x):
        gate = self.w1(x)
        up = self.w3(x)
        return self.w2(F.silu(gate) * up)  # expect: swiglu recommend


class Bank(nn.Module):
    def __init__(self, features, hidden, count):
        super().__init__()
        self.gates = nn.ModuleList(nn.Linear(features, hidden) for _ in range(count))
        self.ups = nn.ModuleList(nn.Linear(features, hidden) for _ in range(count))
        self.one = nn.Linear(features, hidden)
        self.two = nn.Linear(features, hidden)

    def forward(self, x, e):
        return F.silu(self.gates[e](x)) * self.ups[e](x)  # expect: swiglu recommend

    def overwritten(self, x):
        # The activated tensor has no name: nobody misses it.
        return F.silu(self.one(x), inplace=True) * self.two(x)  # expect: swiglu recommend
