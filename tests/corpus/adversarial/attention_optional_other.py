"""What may be None is something else than dropout where it is called."""
import torch
from torch import nn


class Sharpened(nn.Module):
    def __init__(self, sharp, scale):
        super().__init__()
        self.drop = nn.Sigmoid() if sharp else None
        self.scale = float(scale)

    def forward(self, q, k, v):
        w = torch.softmax(torch.matmul(q, k.transpose(-2, -1)) * self.scale, dim=-1)
        w = self.drop(w)
        return torch.matmul(w, v)  # clean: sigmoid of the weights


class OneOfTwo(nn.Module):
    def __init__(self, sharp, p, scale):
        super().__init__()
        self.drop = nn.Dropout(p) if p else nn.Tanh() if sharp else None
        self.scale = float(scale)

    def forward(self, q, k, v):
        w = torch.softmax(torch.matmul(q, k.transpose(-2, -1)) * self.scale, dim=-1)
        w = self.drop(w)
        return torch.matmul(w, v)  # allow: attention caution


class GateOfTwo(nn.Module):
    def __init__(self, width, gated):
        super().__init__()
        self.up, self.gate = nn.Linear(width, width), nn.Linear(width, width)
        self.act = nn.Tanh() if gated else None

    def forward(self, x):
        return self.act(self.gate(x)) * self.up(x)  # clean: tanh
