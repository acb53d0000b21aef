"""What an attribute holds is decided by a setter, or stored after the layer was made."""
import torch
import torch.nn as nn


class Setter(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d))

    @property
    def eps(self):
        return self._eps

    @eps.setter
    def eps(self, value):
        self._eps = value * 1000

    def forward(self, x):
        self.eps = 1e-3
        return self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps))  # clean: the setter stores another number


class Form(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = nn.GELU()
        self.act.approximate = "tanh"

    def forward(self, x):
        a, b = x.chunk(2, -1)
        return a * self.act(b)  # clean: the form is stored later
