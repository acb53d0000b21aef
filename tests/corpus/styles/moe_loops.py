"""Loops over experts, as several projects write them."""
import torch
import torch.nn.functional as F
from torch import nn


class ModuleListMoe(nn.Module):
    def __init__(self, dim, n, k):
        super().__init__()
        self.gate = nn.Linear(dim, n, bias=False)
        self.experts = nn.ModuleList(nn.Linear(dim, dim) for _ in range(n))
        self.k = k

    def forward(self, x):
        logits = self.gate(x)
        weights, chosen = torch.topk(logits, self.k)
        weights = F.softmax(weights, dim=1, dtype=torch.float).to(x.dtype)  # expect: moe caution
        out = torch.zeros_like(x)
        for i, expert in enumerate(self.experts):  # expect: moe caution
            rows, nth = torch.where(chosen == i)
            out[rows] += weights[rows, nth, None] * expert(x[rows])
        return out


class MaskedMoe(nn.Module):
    def __init__(self, dim, n):
        super().__init__()
        self.experts = nn.ModuleList(nn.Linear(dim, dim) for _ in range(n))
        self.n = n

    def forward(self, x, scores, chosen):
        out = x.new_zeros(x.shape)
        for e in range(self.n):  # expect: moe caution
            hit = (chosen == e).any(dim=-1)
            rows = hit.nonzero(as_tuple=True)[0]
            if rows.numel() == 0:
                continue
            y = self.experts[e](x.index_select(0, rows))
            out.index_add_(0, rows, y * scores[rows, e].unsqueeze(-1))
        return out


class PackedMoe(nn.Module):
    def __init__(self, n, dim, hidden):
        super().__init__()
        self.w1 = nn.Parameter(torch.empty(n, dim, 2 * hidden))
        self.w2 = nn.Parameter(torch.empty(n, hidden, dim))

    def forward(self, x, weights, index):
        out = torch.zeros_like(x)
        mask = F.one_hot(index, self.w1.shape[0]).permute(2, 1, 0)
        for e in range(self.w1.shape[0]):  # expect: moe caution
            nth, rows = torch.where(mask[e])
            g, u = (x[rows] @ self.w1[e]).chunk(2, dim=-1)  # expect: swiglu caution|recommend
            y = (F.silu(g) * u) @ self.w2[e]
            out.index_add_(0, rows, y * weights[rows, nth, None])
        return out


class SigmoidRouter(nn.Module):
    def __init__(self, dim, n):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(n, dim))
        self.bias = nn.Parameter(torch.zeros(n))

    def forward(self, x):
        scores = F.linear(x, self.weight).sigmoid()  # expect: moe caution
        chosen = (scores + self.bias).topk(4, dim=-1)[1]
        weights = scores.gather(1, chosen)
        return weights / weights.sum(-1, keepdim=True), chosen


def softmax_router(x, gate, k):
    probs = torch.softmax(x @ gate.t(), dim=-1)  # expect: moe caution
    top = torch.topk(probs, k, dim=-1)
    return top.values / top.values.sum(dim=-1, keepdim=True), top.indices
