"""Read first; it makes the command read the norm."""
import torch
from torch import nn

from pkg.norm import inverse_rms


class Norm(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        return self.weight * (x * inverse_rms(x))
