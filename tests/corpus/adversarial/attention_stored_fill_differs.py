"""A number that the module keeps and that does not take masked scores out."""
import torch
from torch import nn


class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("low", torch.tensor(-10.0))

    def attend(self, q, k, v, seen):
        w = torch.matmul(q, k.transpose(-1, -2))
        w = torch.where(seen, w, self.low.to(w.dtype))
        return torch.matmul(w.softmax(-1), v)


class Zero(nn.Module):
    def __init__(self, low=0.0):
        super().__init__()
        self.low = low

    def forward(self, q, k, v, hidden):
        w = torch.einsum("bihk,bjhk->bhij", q, k)
        w = w.masked_fill(hidden, self.low).softmax(-1)
        return torch.einsum("bhij,bjhk->bihk", w, v)


class Learned(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_parameter("low", nn.Parameter(torch.tensor(-1e9)))

    def attend(self, q, k, v, seen):
        w = torch.matmul(q, k.transpose(-1, -2))
        w = torch.where(seen, w, self.low)
        return torch.matmul(w.softmax(-1), v)


class SmallTensor(nn.Module):
    def __init__(self, low=-5.0):
        super().__init__()
        self.low = low

    def forward(self, q, k, v, hidden):
        w = torch.matmul(q, k.transpose(2, 3))
        w = torch.masked_fill(w, hidden, torch.scalar_tensor(self.low))
        return torch.matmul(w.softmax(-1), v)
