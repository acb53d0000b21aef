"""Masked scores get a number that the module keeps: registered, or given to the constructor."""
import torch
from torch import nn


class Registered(nn.Module):
    def __init__(self, positions, dim):
        super().__init__()
        ones = torch.ones((positions, positions), dtype=torch.uint8)
        self.register_buffer("earlier", torch.tril(ones).view(1, 1, positions, positions))
        self.register_buffer("low", torch.tensor(-1e9))
        self.root = torch.sqrt(torch.tensor(dim, dtype=torch.float32))

    def attend(self, q, k, v):
        n, m = q.size(-2), k.size(-2)
        seen = self.earlier[:, :, m - n : m, :m].bool()
        w = torch.matmul(q.float(), k.float().transpose(-1, -2))
        w = w / self.root
        w = torch.where(seen, w, self.low.to(w.dtype))
        w = nn.Softmax(dim=-1)(w).to(v.dtype)
        return torch.matmul(w, v)  # expect: attention caution

class Given(nn.Module):
    def __init__(self, scale, low: float = -10_000.0):
        super().__init__()
        self.scale = scale
        self.low = low

    def forward(self, q, k, v, hidden):
        w = torch.einsum("bihk,bjhk->bhij", q, k) * self.scale
        w = w.masked_fill(hidden, self.low).softmax(-1)
        return torch.einsum("bhij,bjhk->bihk", w, v)  # expect: attention caution


class OneNumberTensor(nn.Module):
    def __init__(self, low=float("-inf")):
        super().__init__()
        self.low = low

    def forward(self, q, k, v, seen):
        w = torch.matmul(q, k.transpose(2, 3))
        low = torch.scalar_tensor(self.low, device=w.device, dtype=w.dtype)
        w = torch.masked_fill(w, seen == False, low)  # noqa: E712
        return torch.matmul(w.softmax(-1), v)  # expect: attention caution
