"""An einsum that takes the values before the weights; the weights turned for it."""
import torch
from torch import nn

EXPECT = {"attention": 3}


class ValuesFirst(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.q, self.v = (nn.Linear(dim, dim) for _ in range(2))
        self.k = nn.Linear(dim, dim, bias=False)

    def forward(self, x):
        b, n, c = x.shape
        q, k, v = (f(x).reshape(b, n, 4, -1).transpose(1, 2) for f in (self.q, self.k, self.v))
        scores = torch.einsum("bhid,bhjd->bhij", q, k) * 0.25
        attn = scores.softmax(dim=-1)
        out = torch.einsum("bhjd,bhij->bhid", v, attn)
        turned = attn.transpose(-1, -2) * 1.0
        again = torch.einsum("bhjd,bhji->bhid", v, turned)
        return out + again


class Turned(nn.Module):
    def forward(self, q, k, v):
        scores = torch.einsum("bhid,bhjd->bhij", q, k) * 0.25
        attn = scores.softmax(dim=3).transpose(2, 3)
        return torch.einsum("bhjd,bhji->bhid", v, attn)


class Both(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = ValuesFirst(24), Turned()

    def forward(self, x):
        y = self.first(x).reshape(*x.shape[:2], 4, -1).transpose(1, 2)
        return self.second(y, y * 0.5, y)


def make():
    return Both()


def inputs(dtype):
    return [(torch.randn(2, 8, 24).to(dtype),)]
