"""Experts whose results are put back by index_put_, joined by cat, or made by einsum."""
import torch
import torch.nn.functional as F
from torch import nn


class PutBack(nn.Module):
    def __init__(self, d, n, k):
        super().__init__()
        self.n, self.k = n, k
        self.choose = nn.Linear(d, n)
        self.parts = nn.ModuleDict({f"e{i}": nn.Linear(d, d) for i in range(n)})

    def forward(self, x):
        chances = F.softmax(self.choose(x), dim=-1)  # expect: moe caution
        best, which = chances.topk(self.k, dim=-1)
        y = torch.zeros_like(x)
        for i in range(self.n):  # expect: moe caution
            rows, slot = (which == i).nonzero(as_tuple=True)
            if not len(rows):
                continue
            part = self.parts[f"e{i}"](x[rows]) * best[rows, slot].unsqueeze(1)
            y.index_put_((rows,), part, accumulate=True)
        return y


class Joined(nn.Module):
    def __init__(self, parts, k):
        super().__init__()
        self.parts, self.k = nn.ModuleList(parts), k

    def forward(self, x, chances):
        weight, ids = torch.topk(chances, self.k, dim=-1)
        order = ids.view(-1).argsort()  # expect: affinity caution
        counts = ids.view(-1).bincount(minlength=len(self.parts)).tolist()
        shares = x[order // self.k].split(counts)
        made = torch.cat([part(share) for part, share in zip(self.parts, shares)])  # expect: moe caution
        back = torch.empty_like(made)
        back[order] = made
        return (back.view(*ids.shape, -1) * weight.unsqueeze(-1)).sum(1)


class Dispatched(nn.Module):
    def __init__(self, d, f, e, room):
        super().__init__()
        self.choose = nn.Parameter(torch.randn(d, e))
        self.first = nn.Parameter(torch.randn(e, d, f))
        self.last = nn.Parameter(torch.randn(e, f, d))
        self.e, self.room = e, room

    def forward(self, x):
        best, which = torch.softmax(x @ self.choose, -1).max(-1)  # expect: moe caution
        hot = F.one_hot(which, self.e)
        place = (hot.cumsum(0) - 1) * hot
        goes = (place < self.room) & hot.bool()
        spread = F.one_hot(place.sum(-1), self.room).to(x.dtype)[:, None] * goes[..., None]
        blocks = torch.einsum("sec,sd->ecd", spread, x)
        blocks = torch.relu(torch.bmm(blocks, self.first))  # expect: moe caution
        blocks = torch.bmm(blocks, self.last)
        return torch.einsum("sec,ecd->sd", spread * best[:, None, None], blocks)


class Batched(nn.Module):
    def __init__(self, e, d, f):
        super().__init__()
        self.first = nn.Parameter(torch.randn(e, d, f))
        self.last = nn.Parameter(torch.randn(e, f, d))

    def forward(self, x):
        h = torch.relu(torch.einsum("gecd,edf->gecf", x, self.first))  # expect: moe caution
        return torch.einsum("gecf,efd->gecd", h, self.last)
