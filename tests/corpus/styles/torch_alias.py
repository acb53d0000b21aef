"""import torch as t, functional under short names."""
import torch as t
import torch.nn.functional as f
from torch.nn import Linear, Module, Parameter, SiLU


class N(Module):
    def __init__(self, n):
        super().__init__()
        self.g = Parameter(t.ones(n))

    def forward(self, x):
        return self.g * (x * t.rsqrt(t.mean(t.square(x), -1, keepdim=True) + 1e-6))  # expect: rms_norm recommend


class M(Module):
    def __init__(self, n):
        super().__init__()
        self.a, self.b, self.act = Linear(n, n), Linear(n, n), SiLU()

    def forward(self, x):
        return self.act(self.a(x)).mul(self.b(x))  # expect: swiglu recommend


def packed(x):
    return f.silu((p := x.chunk(2, -1))[0]) * p[1]  # expect: swiglu recommend|caution
