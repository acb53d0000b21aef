"""Sizes unpacked from a tuple in which one element is starred."""
import torch
from torch import einsum, nn


class Behind(nn.Module):
    def __init__(self, width, heads, head_width=None):
        super().__init__()
        self.head_width = width // heads if head_width is None else head_width
        self.heads = heads
        inner = self.head_width * heads
        self.to_q = nn.Linear(width, inner, bias=False)
        self.to_kv = nn.Linear(width, 2 * inner, bias=False)

    def forward(self, x, kv=None):
        kv = x if kv is None else kv
        q, k, v = (self.to_q(x), *self.to_kv(kv).chunk(2, dim=-1))
        b, t, d, h, e = *q.shape, self.heads, self.head_width
        split = lambda x: x.reshape(b, -1, h, e).transpose(1, 2).reshape(b * h, -1, e)
        q, k, v = map(split, (q, k, v))
        w = einsum("bie,bje->bij", q, k) * (e**-0.5)
        w = w.softmax(dim=-1)
        return einsum("bij,bje->bie", w, v)  # expect: attention recommend


def around(q, k, v, first):
    _, *_ = q.shape
    one, b, n, d, two = first, *q.shape, 2
    w = torch.softmax(q @ k.transpose(-2, -1) * d**-0.5, dim=-1)
    return w @ v  # expect: attention recommend
