"""Attention in modules: nanoGPT, original Llama, GPT-2, BERT and ViT."""
import math

import torch
import torch.nn.functional as F
from torch import nn


class NanoGPT(nn.Module):
    def __init__(self, dim, heads, length, dropout):
        super().__init__()
        self.c_attn = nn.Linear(dim, 3 * dim)
        self.attn_dropout = nn.Dropout(dropout)
        self.n_head, self.n_embd = heads, dim
        self.register_buffer("bias", torch.tril(torch.ones(length, length)).view(1, 1, length, length))

    def forward(self, x):
        B, T, C = x.size()
        q, k, v = self.c_attn(x).split(self.n_embd, dim=2)
        k = k.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        q = q.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        v = v.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        att = att.masked_fill(self.bias[:, :, :T, :T] == 0, float("-inf"))
        att = F.softmax(att, dim=-1)
        att = self.attn_dropout(att)
        y = att @ v  # expect: attention recommend
        return y.transpose(1, 2).contiguous().view(B, T, C)


def repeat_kv(x, n_rep: int):
    bs, slen, n_kv_heads, head_dim = x.shape
    if n_rep == 1:
        return x
    return (
        x[:, :, :, None, :]
        .expand(bs, slen, n_kv_heads, n_rep, head_dim)
        .reshape(bs, slen, n_kv_heads * n_rep, head_dim)
    )


class OriginalLlama(nn.Module):
    def __init__(self, dim, heads, kv_heads):
        super().__init__()
        self.n_rep = heads // kv_heads
        self.head_dim = dim // heads
        self.wq = nn.Linear(dim, dim, bias=False)
        self.wk = nn.Linear(dim, kv_heads * self.head_dim, bias=False)
        self.wv = nn.Linear(dim, kv_heads * self.head_dim, bias=False)

    def forward(self, x, mask=None):
        bsz, seqlen, _ = x.shape
        xq = self.wq(x).view(bsz, seqlen, -1, self.head_dim)
        keys = repeat_kv(self.wk(x).view(bsz, seqlen, -1, self.head_dim), self.n_rep)
        values = repeat_kv(self.wv(x).view(bsz, seqlen, -1, self.head_dim), self.n_rep)
        xq = xq.transpose(1, 2)
        keys = keys.transpose(1, 2)
        values = values.transpose(1, 2)
        scores = torch.matmul(xq, keys.transpose(2, 3)) / math.sqrt(self.head_dim)
        if mask is not None:
            scores = scores + mask
        scores = F.softmax(scores.float(), dim=-1).type_as(xq)
        output = torch.matmul(scores, values)  # expect: attention recommend
        return output.transpose(1, 2).contiguous().view(bsz, seqlen, -1)


class Transformer(nn.Module):
    def __init__(self, dim, heads, kv_heads):
        super().__init__()
        self.layers = nn.ModuleList([OriginalLlama(dim, heads, kv_heads) for _ in range(2)])

    def forward(self, h):
        seqlen = h.shape[1]
        mask = None
        if seqlen > 1:
            mask = torch.full((seqlen, seqlen), float("-inf"), device=h.device)
            mask = torch.triu(mask, diagonal=1)
        for layer in self.layers:
            h = h + layer(h, mask)
        return h


class ViT(nn.Module):
    def __init__(self, dim, heads=8, attn_drop=0.0):
        super().__init__()
        self.num_heads = heads
        self.scale = (dim // heads) ** -0.5
        self.qkv = nn.Linear(dim, dim * 3)
        self.attn_drop = nn.Dropout(attn_drop)

    def forward(self, x):
        B, N, C = x.shape
        qkv = self.qkv(x).reshape(B, N, 3, self.num_heads, C // self.num_heads).permute(2, 0, 3, 1, 4)
        q, k, v = qkv.unbind(0)
        q = q * self.scale
        attn = q @ k.transpose(-2, -1)
        attn = attn.softmax(dim=-1)
        attn = self.attn_drop(attn)
        x = attn @ v  # expect: attention recommend
        return x.transpose(1, 2).reshape(B, N, C)


class Softmaxed(nn.Module):
    """A module for the softmax, and heads repeated by repeat_interleave."""

    def __init__(self):
        super().__init__()
        self.softmax = nn.Softmax(dim=-1)

    def forward(self, q, k, v, times: int):
        k = k.repeat_interleave(times, dim=1)
        v = v.repeat_interleave(times, dim=1)
        scores = torch.matmul(q, k.transpose(-1, -2)) * 0.125
        return torch.matmul(self.softmax(scores), v)  # expect: attention recommend


class Bert(nn.Module):
    """Weights are returned: they stay computed."""

    def __init__(self, p):
        super().__init__()
        self.dropout = nn.Dropout(p)

    def forward(self, query, key, value, attention_mask=None):
        scores = torch.matmul(query, key.transpose(-1, -2))
        scores = scores / math.sqrt(query.shape[-1])
        if attention_mask is not None:
            scores = scores + attention_mask
        probs = nn.functional.softmax(scores, dim=-1)
        probs = self.dropout(probs)
        context = torch.matmul(probs, value)  # expect: attention caution
        return context, probs
