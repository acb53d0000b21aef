"""1 + weight, in the order that Gemma has."""
import torch
from torch import nn


class GemmaNorm(nn.Module):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.zeros(dim))

    def _norm(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)  # allow: rms_norm recommend|caution

    def forward(self, x):
        output = self._norm(x.float())
        output = output * (1.0 + self.weight.float())  # expect: rms_norm recommend  # expect: gemma_rms_norm caution
        return output.type_as(x)


class OffsetNorm(nn.Module):
    """The offset is an attribute."""

    def __init__(self, dim, eps=1e-6, offset=1.0):
        super().__init__()
        self.eps = eps
        self.offset = offset
        self.weight = nn.Parameter(torch.zeros(dim))

    def forward(self, x):
        h = x.float()
        h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + self.eps)  # expect: rms_norm recommend|caution
        return (h * (self.weight + self.offset)).to(x.dtype)
