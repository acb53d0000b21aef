"""Spelled by the operator module, by methods of Python and by functions of ATen."""
import operator

import torch
from torch import nn

EXPECT = {"rms_norm": 3}


class Three(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Parameter(torch.ones(16))
        self.b = nn.Parameter(torch.ones(16))
        self.c = nn.Parameter(torch.ones(16))

    def first(self, x):
        mean = torch.mean(operator.pow(x, 2), -1, True)
        return operator.mul(self.a, operator.mul(x, torch.rsqrt(operator.add(mean, 1e-6))))

    def second(self, x):
        root = x.__mul__(x).mean(-1, keepdim=True).__radd__(1e-6).sqrt()
        return x.__truediv__(root).__rmul__(self.b)

    def third(self, x):
        aten = torch.ops.aten
        mean = aten.mean.dim(aten.pow.Tensor_Scalar(x, 2), [-1], True)
        return aten.mul.Tensor(aten.mul.Tensor(x, aten.rsqrt.default(mean + 1e-6)), self.c)

    def forward(self, x):
        return self.first(x) + self.second(x) * 2 + self.third(x) * 3


def make():
    torch.manual_seed(3)
    made = Three()
    for parameter in made.parameters():
        nn.init.normal_(parameter, 1.0, 0.3)
    return made


def inputs(dtype):
    return [(torch.randn(2, 8, 16).to(dtype),), (torch.randn(3, 16).to(dtype),)]
