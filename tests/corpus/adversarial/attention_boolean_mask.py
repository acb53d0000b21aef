"""torch's own attention with a boolean mask, however it is made, is one kernel already."""
import torch
import torch.nn.functional as F
from einops import rearrange
from torch import nn


def ones_and_tril(q, k, v):
    m = torch.ones(q.size(2), k.size(2), dtype=torch.bool, device=q.device).tril(diagonal=0)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=m)  # clean: boolean


def cast_then_indexed(q, k, v, mask):
    m = mask.bool()[:, None, None, :]
    return F.scaled_dot_product_attention(q, k, v, attn_mask=m)  # clean: boolean


def rearranged_and_joined(q, k, v, mask):
    m = rearrange(mask, "b j -> b 1 1 j").to(torch.bool)
    i = torch.arange(q.shape[-2], device=q.device)
    m = m & (i[:, None] >= i[None])
    return F.scaled_dot_product_attention(q, k, v, m)  # clean: boolean


def lengths_by_logical_and(q, k, v, lengths):
    m = torch.arange(k.shape[2], device=k.device)[None] < lengths[:, None]
    m = torch.logical_and(m[:, None, None], torch.tril(torch.ones(q.shape[2], k.shape[2], dtype=torch.bool)))
    return F.scaled_dot_product_attention(q, k, v, m)  # clean: boolean


def chosen_and_repeated(q, k, v, lengths):
    m = torch.zeros(q.shape[0], 1, 1, k.shape[2], dtype=torch.bool, device=q.device)
    m = torch.where(lengths > 0, m, ~m)
    m = m.repeat(1, 1, q.shape[2], 1)
    return F.scaled_dot_product_attention(q, k, v, m)  # clean: boolean


class Registered(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.register_buffer("tri", torch.tril(torch.ones(n, n)).bool().view(1, 1, n, n))

    def forward(self, q, k, v):
        t = q.shape[2]
        return F.scaled_dot_product_attention(q, k, v, self.tri[:, :, :t, :t])  # clean: boolean


def concatenated(q, k, v, m):
    m = torch.cat([torch.ones_like(m, dtype=torch.bool), m.bool()], dim=-1)
    m = m.masked_fill(m.sum(-1, keepdim=True) == 0, True)
    return F.scaled_dot_product_attention(q, k, v, m)  # clean: boolean


def full_of_true(q, k, v, m):
    m = torch.full((q.shape[2], k.shape[2]), True, device=q.device).triu(1).logical_not()
    return F.scaled_dot_product_attention(q, k, v, m)  # clean: boolean


def window(q, k, v, size):
    rows = (k.size(2) - q.size(2)) + torch.arange(q.size(2), device=q.device).unsqueeze(1)
    cols = torch.arange(k.size(2), device=q.device).unsqueeze(0)
    seen = cols <= rows
    if size >= 0 and size < k.size(2):
        seen = seen & ((rows - cols) <= size)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=seen)  # clean: boolean


def true_where_it_was_minus_infinity(q, k, v, hidden):
    m = torch.zeros(q.size(2), k.size(2), device=q.device).masked_fill(hidden, float("-inf"))
    return F.scaled_dot_product_attention(q, k, v, m.bool()[None, None])  # clean: boolean


def one_is_added(q, k, v, hidden):
    m = torch.zeros(q.size(2), k.size(2), device=q.device).masked_fill(hidden, float("-inf"))
    s = q @ k.transpose(-1, -2) * 0.125 + m.bool()
    return s.softmax(-1) @ v  # expect: attention caution
