"""A window over the last keys; fewer queries than keys."""
import torch
from torch import nn

EXPECT = {"attention": 1}


def window_attention(q, k, v, window):
    """window == -1: no limit. Query i lines up with key i + (Skv - Sq)."""
    sq, sk = q.shape[-2], k.shape[-2]
    i = torch.arange(sq)[:, None] + (sk - sq)
    j = torch.arange(sk)[None]
    ok = j <= i
    if window != -1:
        ok &= j > i - window
    s = (q @ k.mT) / q.shape[-1] ** 0.5
    return s.masked_fill(~ok, float("-inf")).softmax(-1) @ v


class Windows(nn.Module):
    def __init__(self):
        super().__init__()
        self.q_proj = nn.Linear(8, 8)
        self.k_proj = nn.Linear(8, 8, bias=False)

    def forward(self, x, y):
        q, k, v = self.q_proj(x), self.k_proj(y), self.q_proj(y)
        return window_attention(q, k, v, 2) + window_attention(q, k, v, -1)


def make():
    return Windows()


def inputs(dtype):
    def one(*shape):
        return torch.randn(*shape).to(dtype)

    return [(one(2, 3, 5, 8), one(2, 3, 5, 8)), (one(1, 2, 3, 8), one(1, 2, 7, 8))]
