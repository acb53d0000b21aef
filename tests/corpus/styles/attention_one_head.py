"""Keys and values without an axis of heads: one head for all of the queries'."""
import einops
import torch
from einops import rearrange
from torch import einsum, nn


def plain(q, k, v):
    weights = einsum("b h i d, b j d -> b h i j", q * 0.125, k).softmax(dim=-1)
    return einsum("b h i j, b j d -> b h i d", weights, v)  # expect: attention recommend


def length_first(q, k, v):
    weights = torch.einsum("bihd,bjd->bhij", q, k).mul(0.125).softmax(-1)
    return torch.einsum("bhij,bjd->bihd", weights, v)  # expect: attention recommend


def words(q, k, v, keep):
    scores = einops.einsum(q, k, "batch head i dim, batch j dim -> batch head i j") * 0.125
    scores = scores.masked_fill(~keep[:, None, None, :], -torch.finfo(scores.dtype).max)
    weights = scores.softmax(-1)
    return einops.einsum(  # expect: attention recommend|caution
        weights, v, "batch head i j, batch j dim -> batch head i dim")


def values_first(q, k, v):
    weights = torch.einsum("bhid,bjd->bhij", q, k).softmax(-1)
    return torch.einsum("bjd,bhij->bhid", v, weights)  # expect: attention recommend


def axis_put_in(q, k, v):
    weights = torch.einsum("bhid,bjd->bhij", q, k).softmax(-1)
    return weights @ v.unsqueeze(1)  # expect: attention recommend


class Parallel(nn.Module):
    """One tensor is key and value."""

    def __init__(self, dim, heads, width):
        super().__init__()
        self.heads, self.scale = heads, width ** -0.5
        self.to_q = nn.Linear(dim, heads * width)
        self.to_kv = nn.Linear(dim, width)

    def forward(self, x, bias):
        q, kv = rearrange(self.to_q(x), "b n (h d) -> b h n d", h=self.heads), self.to_kv(x)
        scores = einsum("b h i d, b j d -> b h i j", q * self.scale, kv) + bias
        n = x.shape[1]
        hidden = torch.ones((n, n), device=x.device, dtype=torch.bool).triu(1)
        weights = scores.masked_fill(hidden, -torch.finfo(scores.dtype).max).softmax(dim=-1)
        return einsum("b h i j, b j d -> b h i d", weights, kv)  # expect: attention caution
