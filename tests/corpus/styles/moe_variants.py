"""Routers that cut or choose what topk gives; experts by number; gathered weights."""
import torch
import torch.nn.functional as F
from torch import nn


class ViewedValues(nn.Module):
    def __init__(self, d, n, k=2):
        super().__init__()
        self.gate, self.k = nn.Linear(d, n), k

    def forward(self, inp):
        logits = self.gate(inp)
        best, index = torch.topk(logits, k=self.k, dim=-1, largest=True, sorted=False)
        best = best.view(-1, self.k)
        score = F.softmax(best, dim=-1)  # expect: moe caution
        return index, score


class OneMoreForTheLoad(nn.Module):
    """One more is chosen than is used, and the weights are put back by scatter."""
    def __init__(self, d, n, k, smooth=True):
        super().__init__()
        self.gate, self.n, self.k, self.smooth = nn.Linear(d, n), n, k, smooth
        self.softmax = nn.Softmax(1)

    def forward(self, x):
        logits = self.gate(x)
        top_logits, top_indices = logits.topk(min(self.k + 1, self.n), dim=1)
        kept = top_logits[:, : self.k]
        indices = top_indices[:, : self.k]
        scores = self.softmax(kept.float()) if self.smooth else kept  # expect: moe caution
        gates = torch.zeros_like(logits).scatter(1, indices, scores.to(logits.dtype))
        return gates, top_logits


class BestOrMax(nn.Module):
    def __init__(self, d, n, k):
        super().__init__()
        self.layer, self.k = nn.Linear(d, n, bias=False), k

    def choose(self, scores):
        if self.k == 1:
            values, indices = scores.max(dim=-1)
            return values.unsqueeze(-1), indices.unsqueeze(-1)
        return torch.topk(scores, self.k, dim=-1)

    def forward(self, x):
        scores = self.layer(x.view(-1, x.shape[-1])).softmax(dim=-1)
        weights, chosen = self.choose(scores)  # expect: moe caution
        weights = weights / torch.norm(weights, p=1, dim=-1, keepdim=True)
        return scores, weights, chosen


class ToldItsNumber(nn.Module):
    """One module holds all experts and is told which one it is."""
    def __init__(self, experts, n):
        super().__init__()
        self.experts, self.n = experts, n

    def forward(self, x, weights, chosen):
        out = torch.zeros_like(x)
        mask = F.one_hot(chosen, num_classes=self.n).permute(2, 1, 0)
        for number in range(self.n):
            slot, token = torch.where(mask[number])
            if token.shape[0] == 0:
                continue
            rows, slots = token.tolist(), slot.tolist()
            y = self.experts(x[None, rows].reshape(-1, x.shape[-1]), number)
            out.index_add_(0, token, y * weights[rows, slots, None])  # expect: moe caution
        return out


class SortedAndWeighted(nn.Module):
    """Weighted or not, by a flag, and normed: the order is undone all the same."""
    def __init__(self, experts, n, weighted=True, norm=None):
        super().__init__()
        self.experts, self.n, self.weighted, self.norm = experts, n, weighted, norm

    def forward(self, x, indices, scores):
        tokens, k = indices.shape
        flat, scores = indices.flatten(), scores.flatten()
        owner = torch.arange(tokens, device=x.device).repeat_interleave(k)
        _, order = flat.sort(0)
        sorted_scores, sorted_owner = scores.index_select(0, order), owner.index_select(0, order)
        counts = flat.bincount(minlength=self.n).tolist()
        parts = torch.split(x.index_select(0, sorted_owner), counts, dim=0)
        y = torch.cat([self.experts(parts[i], i) for i in range(self.n)], 0)
        if self.weighted:
            y = torch.mul(y, sorted_scores.reshape(-1, 1))
            if self.norm is not None:
                y = self.norm(y)
        zeros = torch.zeros((tokens, y.size(1)), device=y.device, dtype=y.dtype)
        return zeros.index_add(0, sorted_owner, y)  # expect: moe caution


class GatheredWeights(nn.Module):
    def __init__(self, n, d, h):
        super().__init__()
        self.w1 = nn.Parameter(torch.empty(n, h, d))
        self.w2 = nn.Parameter(torch.empty(n, d, h))
        self.w3 = nn.Parameter(torch.empty(n, h, d))

    def forward(self, x, chosen):
        w1, w2, w3 = self.w1[chosen], self.w2[chosen], self.w3[chosen]
        h = F.silu(torch.einsum("ti,taoi->tao", x, w1))  # expect: moe caution # allow: swiglu recommend|caution
        up = torch.einsum("ti,taoi->tao", x, w3)  # allow: moe caution # allow: swiglu recommend|caution
        return torch.einsum("tao,taio->tai", h * up, w2)  # allow: moe caution # allow: swiglu recommend|caution
