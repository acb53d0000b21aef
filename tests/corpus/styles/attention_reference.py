"""What the documentation of scaled_dot_product_attention writes out, and its relatives."""
import math
import torch
from torch import nn
import torch.nn.functional as F


def documented(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
    L, S = query.size(-2), key.size(-2)
    scale_factor = 1 / math.sqrt(query.size(-1)) if scale is None else scale
    attn_bias = torch.zeros(L, S, dtype=query.dtype, device=query.device)
    if is_causal:
        assert attn_mask is None
        temp_mask = torch.ones(L, S, dtype=torch.bool).tril(diagonal=0)
        attn_bias.masked_fill_(temp_mask.logical_not(), float("-inf"))
        attn_bias.to(query.dtype)

    if attn_mask is not None:
        if attn_mask.dtype == torch.bool:
            attn_bias.masked_fill_(attn_mask.logical_not(), float("-inf"))
        else:
            attn_bias = attn_mask + attn_bias

    if enable_gqa:
        key = key.repeat_interleave(query.size(-3) // key.size(-3), -3)
        value = value.repeat_interleave(query.size(-3) // value.size(-3), -3)

    attn_weight = query @ key.transpose(-2, -1) * scale_factor
    attn_weight += attn_bias
    attn_weight = torch.softmax(attn_weight, dim=-1)
    attn_weight = torch.dropout(attn_weight, dropout_p, train=True)
    return attn_weight @ value  # expect: attention recommend


def causal_only(query, key, value, is_causal=False):
    L, S = query.size(-2), key.size(-2)
    attn_bias = torch.zeros(L, S, dtype=query.dtype, device=query.device)
    if is_causal:
        temp_mask = torch.ones(L, S, dtype=torch.bool, device=query.device).tril(diagonal=0)
        attn_bias.masked_fill_(temp_mask.logical_not(), float("-inf"))
    attn_weight = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    attn_weight = attn_weight + attn_bias
    attn_weight = torch.softmax(attn_weight, dim=-1)
    return attn_weight @ value  # expect: attention recommend


def bool_only(query, key, value, attn_mask=None, dropout_p=0.0):
    attn_weight = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if attn_mask is not None:
        if attn_mask.dtype == torch.bool:
            bias = torch.zeros_like(attn_weight)
            bias.masked_fill_(attn_mask.logical_not(), float("-inf"))
        else:
            bias = attn_mask
        attn_weight = attn_weight + bias
    attn_weight = torch.softmax(attn_weight, dim=-1)
    attn_weight = torch.dropout(attn_weight, dropout_p, train=True)
    return attn_weight @ value  # expect: attention caution


def bool_or_float(query, key, value, attn_mask=None, dropout_p=0.0):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if attn_mask is not None:
        if attn_mask.dtype == torch.bool:
            scores = scores.masked_fill(~attn_mask, float("-inf"))
        else:
            scores = scores + attn_mask
    return F.dropout(scores.softmax(dim=-1), dropout_p) @ value  # expect: attention caution


def layouts(q, k, v, mode, drop_rate=0., attn_mask=None, causal=False):
    if mode == "torch":
        x = F.scaled_dot_product_attention(q, k, v, attn_mask=attn_mask, dropout_p=drop_rate, is_causal=causal)  # expect: attention caution
    elif mode == "vanilla":
        b, a, s, _ = q.shape
        s1 = k.size(2)
        bias = torch.zeros(b, a, s, s1, dtype=q.dtype, device=q.device)
        if causal:
            temp = torch.ones(b, a, s, s, dtype=torch.bool, device=q.device).tril(diagonal=0)
            bias.masked_fill_(temp.logical_not(), float("-inf"))
            bias.to(q.dtype)
        if attn_mask is not None:
            if attn_mask.dtype == torch.bool:
                bias.masked_fill_(attn_mask.logical_not(), float("-inf"))
            else:
                bias += attn_mask
        attn = (q @ k.transpose(-2, -1)) * (1 / math.sqrt(q.size(-1)))
        attn += bias
        attn = attn.softmax(dim=-1)
        attn = torch.dropout(attn, p=drop_rate, train=True)
        x = attn @ v  # expect: attention recommend
    else:
        raise NotImplementedError(mode)
    return x


def add_mask(scores, attn_mask=None):
    return scores if attn_mask is None else scores + attn_mask


def resolve(seq_len, attn, attn_mask=None, is_causal=False):
    if is_causal:
        assert attn_mask is None
        bias = attn.new_full((seq_len, seq_len), float("-inf"))
        return torch.triu(bias, diagonal=1)
    if attn_mask is not None and attn_mask.dtype == torch.bool:
        bias = torch.zeros_like(attn_mask, dtype=attn.dtype)
        return bias.masked_fill(~attn_mask, float("-inf"))
    return attn_mask


class Helper(nn.Module):
    def __init__(self, dim, num_heads=8, qk_norm=False, norm_layer=nn.LayerNorm, attn_drop=0.):
        super().__init__()
        self.num_heads = num_heads
        self.head_dim = dim // num_heads
        self.scale = self.head_dim ** -0.5
        self.fused_attn = hasattr(F, "scaled_dot_product_attention")
        self.qkv = nn.Linear(dim, 3 * dim)
        self.q_norm = norm_layer(self.head_dim) if qk_norm else nn.Identity()
        self.k_norm = norm_layer(self.head_dim) if qk_norm else nn.Identity()
        self.attn_drop = nn.Dropout(attn_drop)

    def forward(self, x, attn_mask=None, is_causal=False):
        B, N, C = x.shape
        q, k, v = self.qkv(x).reshape(B, N, 3, self.num_heads, self.head_dim).permute(2, 0, 3, 1, 4).unbind(0)
        q, k = self.q_norm(q), self.k_norm(k)
        if self.fused_attn:
            x = F.scaled_dot_product_attention(q, k, v, attn_mask=attn_mask)  # expect: attention caution
        else:
            q = q * self.scale
            attn = q @ k.transpose(-2, -1)
            attn = add_mask(attn, resolve(N, attn, attn_mask, is_causal))
            attn = attn.softmax(dim=-1)
            attn = self.attn_drop(attn)
            x = attn @ v  # expect: attention caution
        return x.transpose(1, 2).reshape(B, N, C)


def register_notrace(f):
    REGISTRY.add(f)
    return f


REGISTRY = set()


@torch.fx.wrap
@register_notrace
def add_mask_decorated(scores: torch.Tensor, attn_mask=None):
    return scores if attn_mask is None else scores + attn_mask


class Decorated(nn.Module):
    def forward(self, q, k, v, attn_mask=None):
        attn = q @ k.transpose(-2, -1) * self.head_dim ** -0.5
        attn = add_mask_decorated(attn, attn_mask)
        attn = attn.softmax(dim=-1)
        return attn @ v  # expect: attention caution
