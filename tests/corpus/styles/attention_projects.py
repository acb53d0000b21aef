"""Attention as well-known projects spell it: open_clip, Megatron, diffusers, T5, GPT-2."""
import math

import torch
import torch.nn.functional as F
from torch import einsum, nn


class OpenClip(nn.Module):
    """Heads folded into the batch, a mask that is boolean or added."""

    def __init__(self, dim, heads=8, attn_drop=0.0):
        super().__init__()
        self.num_heads = heads
        self.head_dim = dim // heads
        self.scale = self.head_dim ** -0.5
        self.in_proj_weight = nn.Parameter(torch.randn((dim * 3, dim)) * self.scale)
        self.in_proj_bias = nn.Parameter(torch.zeros(dim * 3))
        self.attn_drop = nn.Dropout(attn_drop)

    def forward(self, x, attn_mask=None):
        L, N, C = x.shape
        q, k, v = F.linear(x, self.in_proj_weight, self.in_proj_bias).chunk(3, dim=-1)
        q = q.reshape(L, N * self.num_heads, -1).transpose(0, 1)
        k = k.reshape(L, N * self.num_heads, -1).transpose(0, 1)
        v = v.reshape(L, N * self.num_heads, -1).transpose(0, 1)
        q = q * self.scale
        attn = torch.bmm(q, k.transpose(-1, -2))
        if attn_mask is not None:
            if attn_mask.dtype == torch.bool:
                new_attn_mask = torch.zeros_like(attn_mask, dtype=q.dtype)
                new_attn_mask.masked_fill_(attn_mask, float("-inf"))
                attn_mask = new_attn_mask
            attn += attn_mask
        attn = attn.softmax(dim=-1)
        attn = self.attn_drop(attn)
        x = torch.bmm(attn, v)  # expect: attention recommend|caution
        return x.transpose(0, 1).reshape(L, N, C)


class Megatron(nn.Module):
    """sbhd, a buffer that baddbmm does not read, a boolean mask of what is left out."""

    def __init__(self, dropout, width):
        super().__init__()
        self.norm_factor = math.sqrt(width)
        self.attention_dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, attention_mask):
        b, np, sq, sk = query.size(1), query.size(2), query.size(0), key.size(0)
        query = query.reshape(sq, b * np, -1)
        key = key.view(sk, b * np, -1)
        matmul_input_buffer = torch.empty(b * np, sq, sk, dtype=query.dtype, device=query.device)
        matmul_result = torch.baddbmm(
            matmul_input_buffer,
            query.transpose(0, 1),
            key.transpose(0, 1).transpose(1, 2),
            beta=0.0,
            alpha=(1.0 / self.norm_factor),
        )
        attention_scores = matmul_result.view(b, np, sq, sk)
        attention_scores = attention_scores.masked_fill(attention_mask, -10000.0)
        attention_probs = torch.softmax(attention_scores, dim=-1)
        attention_probs = self.attention_dropout(attention_probs)
        value = value.view(value.size(0), b * np, -1)
        attention_probs = attention_probs.view(b * np, sq, -1)
        context = torch.bmm(attention_probs, value.transpose(0, 1))  # expect: attention recommend|caution
        return context.view(b, np, sq, -1)


class DiffusersAttention(nn.Module):
    """The scores are another method's."""

    def __init__(self, heads, scale, upcast_softmax=True):
        super().__init__()
        self.heads, self.scale, self.upcast_softmax = heads, scale, upcast_softmax

    def get_attention_scores(self, query, key, attention_mask=None):
        dtype = query.dtype
        if attention_mask is None:
            baddbmm_input = torch.empty(
                query.shape[0], query.shape[1], key.shape[1], dtype=query.dtype, device=query.device)
            beta = 0
        else:
            baddbmm_input = attention_mask
            beta = 1
        attention_scores = torch.baddbmm(
            baddbmm_input, query, key.transpose(-1, -2), beta=beta, alpha=self.scale)
        if self.upcast_softmax:
            attention_scores = attention_scores.float()
        attention_probs = attention_scores.softmax(dim=-1)
        return attention_probs.to(dtype)

    def forward(self, query, key, value, attention_mask=None):
        attention_probs = self.get_attention_scores(query, key, attention_mask)
        return torch.bmm(attention_probs, value)  # expect: attention recommend|caution


class T5(nn.Module):
    """A learned bias of the positions is no mask."""

    def __init__(self, heads, buckets, p):
        super().__init__()
        self.relative_attention_bias = nn.Embedding(buckets, heads)
        self.dropout = p

    def forward(self, query_states, key_states, value_states, buckets, mask=None):
        scores = torch.matmul(query_states, key_states.transpose(3, 2))
        position_bias = self.relative_attention_bias(buckets).permute([2, 0, 1]).unsqueeze(0)
        if mask is not None:
            position_bias = position_bias + mask
        scores += position_bias
        attn_weights = F.softmax(scores.float(), dim=-1).type_as(scores)
        attn_weights = F.dropout(attn_weights, p=self.dropout, training=self.training)
        return torch.matmul(attn_weights, value_states)  # expect: attention caution


class GPT2(nn.Module):
    """A causal buffer selected by where, then a mask that is added."""

    def __init__(self, length, p):
        super().__init__()
        mask = torch.tril(torch.ones((length, length), dtype=torch.bool))
        self.register_buffer("bias", mask.view(1, 1, length, length), persistent=False)
        self.attn_dropout = nn.Dropout(p)

    def _attn(self, query, key, value, attention_mask=None):
        attn_weights = torch.matmul(query, key.transpose(-1, -2))
        attn_weights = attn_weights / torch.full(
            [], value.size(-1) ** 0.5, dtype=attn_weights.dtype, device=attn_weights.device)
        query_length, key_length = query.size(-2), key.size(-2)
        causal_mask = self.bias[:, :, key_length - query_length : key_length, :key_length]
        mask_value = torch.finfo(attn_weights.dtype).min
        mask_value = torch.full([], mask_value, dtype=attn_weights.dtype, device=attn_weights.device)
        attn_weights = torch.where(causal_mask, attn_weights.to(attn_weights.dtype), mask_value)
        if attention_mask is not None:
            attn_weights = attn_weights + attention_mask
        attn_weights = F.softmax(attn_weights, dim=-1)
        attn_weights = attn_weights.type(value.dtype)
        attn_weights = self.attn_dropout(attn_weights)
        attn_output = torch.matmul(attn_weights, value)  # expect: attention recommend|caution
        return attn_output, attn_weights

    def forward(self, q, k, v, mask):
        extended = (1.0 - mask[:, None, None, :]) * torch.finfo(q.dtype).min
        output, _ = self._attn(q, k, v, extended)
        return output


class XTransformers(nn.Module):
    """einsum of the torch module, a mask of what is kept, the causal one by triu."""

    def __init__(self, scale, causal=True):
        super().__init__()
        self.scale, self.causal = scale, causal

    def forward(self, q, k, v, mask=None):
        dots = einsum("b h i d, b h j d -> b h i j", q, k) * self.scale
        mask_value = -torch.finfo(dots.dtype).max
        if mask is not None:
            dots = dots.masked_fill(~mask, mask_value)
        if self.causal:
            i, j = dots.shape[-2:]
            causal_mask = torch.ones((i, j), dtype=torch.bool, device=q.device).triu(j - i + 1)
            dots = dots.masked_fill(causal_mask, mask_value)
        attn = dots.softmax(dim=-1)
        return einsum("b h i j, b h j d -> b h i d", attn, v)  # expect: attention recommend|caution


class SequenceFirst(nn.Module):
    """(batch, sequence, heads, width) by einsum."""

    def __init__(self, heads, dim):
        super().__init__()
        self.heads = heads
        self.to_qkv = nn.Linear(dim, dim * 3)

    def forward(self, x):
        b, n, _ = x.shape
        qkv = self.to_qkv(x).reshape(b, n, 3, self.heads, -1)
        q, k, v = qkv[:, :, 0], qkv[:, :, 1], qkv[:, :, 2]
        dots = torch.einsum("bihd,bjhd->bhij", q, k) * (q.shape[-1] ** -0.5)
        attn = dots.softmax(dim=-1)
        out = torch.einsum("bhij,bjhd->bihd", attn, v)  # expect: attention recommend
        return out.reshape(b, n, -1)
