"""Grouped heads repeated by hand, a mask that is added, weights dropped by the caller."""
import torch
from torch import nn

EXPECT = {"attention": 1}


def repeat_kv(x, n_rep):
    batch, heads, length, dim = x.shape
    if n_rep == 1:
        return x
    x = x[:, :, None, :, :].expand(batch, heads, n_rep, length, dim)
    return x.reshape(batch, heads * n_rep, length, dim)


def eager(module, query, key, value, attention_mask, scaling, dropout=0.0):
    key_states = repeat_kv(key, module.groups)
    value_states = repeat_kv(value, module.groups)
    weights = torch.matmul(query, key_states.transpose(2, 3)) * scaling
    if attention_mask is not None:
        weights = weights + attention_mask[:, :, :, : key_states.shape[-2]]
    weights = nn.functional.softmax(weights, dim=-1, dtype=torch.float32).to(query.dtype)
    weights = nn.functional.dropout(weights, p=dropout, training=module.training)
    output = torch.matmul(weights, value_states)
    output = output.transpose(1, 2).contiguous()
    return output, weights


class Attention(nn.Module):
    def __init__(self, size, heads, groups):
        super().__init__()
        self.groups = groups
        self.dim = size // heads
        self.q_proj = nn.Linear(size, size, bias=False)
        self.k_proj = nn.Linear(size, size // groups, bias=False)
        self.v_proj = nn.Linear(size, size // groups, bias=False)

    def forward(self, x, mask=None):
        shape = (*x.shape[:-1], -1, self.dim)
        q = self.q_proj(x).view(shape).transpose(1, 2)
        k = self.k_proj(x).view(shape).transpose(1, 2)
        v = self.v_proj(x).view(shape).transpose(1, 2)
        output, _ = eager(self, q, k, v, mask, self.dim ** -0.5)
        return output.reshape(*x.shape)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = Attention(32, 4, 2)

    def forward(self, x, keep):
        mask = None
        if keep is not None:
            mask = (1.0 - keep[:, None, None, :].to(x.dtype)) * torch.finfo(x.dtype).min
            causal = torch.full((x.shape[1], x.shape[1]), torch.finfo(x.dtype).min, dtype=x.dtype)
            mask = torch.minimum(mask, causal.triu(1))
        return self.attention(x, mask)


def make():
    return Model()


def inputs(dtype):
    keep = torch.ones(2, 7, dtype=torch.int64)
    keep[0, 5:] = 0
    return [
        (torch.randn(2, 7, 32).to(dtype), keep),
        (torch.randn(1, 5, 32).to(dtype), None),
    ]
