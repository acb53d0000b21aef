"""A subclass changes one of the steps."""
import torch
import torch.nn as nn


class Steps(nn.Module):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))
        self.eps = eps

    def variance(self, x):
        return x.pow(2).mean(-1, keepdim=True)

    def forward(self, x):
        return self.weight * (x * torch.rsqrt(self.variance(x) + self.eps))  # clean: a subclass has another variance


class Centred(Steps):
    def variance(self, x):
        return x.var(-1, keepdim=True, unbiased=False)


class Abstract(nn.Module):
    def variance(self, x):
        raise NotImplementedError

    def forward(self, x):
        return x * torch.rsqrt(self.variance(x) + 1e-6)  # clean: subclasses decide
