"""Rows or columns of a table attend: the product has one more axis of a batch."""
import torch
from torch import einsum, nn


class Columns(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.dim = heads, width // heads
        self.q, self.k, self.v = (nn.Linear(width, width) for _ in range(3))
        self.drop = nn.Dropout(0.1)

    def forward(self, t, hidden=None):
        r, c, n, _ = t.size()
        q = self.q(t).view(r, c, n, self.heads, self.dim) * self.dim**-0.5
        k = self.k(t).view(r, c, n, self.heads, self.dim)
        v = self.v(t).view(r, c, n, self.heads, self.dim)
        w = torch.einsum("rcnhd,scnhd->hcnrs", q, k)
        if hidden is not None:
            w = w.masked_fill(hidden.permute(2, 0, 1)[None, :, :, None], -10000)
        w = self.drop(w.softmax(-1))
        return torch.einsum("hcnrs,scnhd->rcnhd", w, v)  # expect: attention caution


def rows(q, k, v, bias):
    w = einsum("bsqhd,bskhd->bshqk", q, k) / 8 + bias
    w = torch.softmax(w, dim=-1)
    return einsum("bshqk,bskhd->bsqhd", w, v)  # expect: attention caution


def groups(q, k, v, hidden=None):
    """Groups of queries on an axis of their own share the keys of a head."""
    w = einsum("bgnid,bnjd->bgnij", q / 8, k)
    if hidden is not None:
        w.masked_fill_(hidden, torch.finfo(w.dtype).min)
    w = torch.softmax(w, dim=-1)
    return einsum("bgnij,bnjd->bgnid", w, v)  # expect: attention caution


def groups_behind_heads(q, k, v):
    w = torch.softmax(einsum("bngid,bnjd->bngij", q, k), dim=-1)
    return einsum("bngij,bnjd->bngid", w, v)  # expect: attention caution
