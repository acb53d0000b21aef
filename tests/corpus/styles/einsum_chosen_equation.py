"""Equations that are put together by f-strings."""
from torch import einsum, nn


class Filled(nn.Module):
    def forward(self, q, k, v):
        keys = "b h j d"
        scores = einsum(f"b h i d, {keys} -> b h i j", q, k) * q.shape[-1] ** -0.5
        weights = scores.softmax(dim=-1)
        return einsum(f"b h i j, {keys} -> b h i d", weights, v)  # expect: attention recommend


class Chosen(nn.Module):
    def forward(self, q, k, v):
        keys = "b j d" if k.ndim == 3 else "b h j d"
        scores = einsum(f"b h i d, {keys} -> b h i j", q, k) * q.shape[-1] ** -0.5
        weights = scores.softmax(dim=-1)
        return einsum(f"b h i j, {keys} -> b h i d", weights, v)  # expect: attention caution
