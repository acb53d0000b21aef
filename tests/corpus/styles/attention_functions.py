"""Attention as one function, with masks in every form."""
import math

import torch
import torch.nn.functional as F


def plain(q, k, v):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    return F.softmax(scores, dim=-1) @ v  # expect: attention recommend


def scaled_query(q, k, v):
    q = q * q.shape[-1] ** -0.5
    attn = torch.matmul(q, k.mT)
    attn = attn.softmax(-1)
    return torch.matmul(attn, v)  # expect: attention recommend


def key_transposed_by_permute(q, k, v, scale: float):
    weights = torch.softmax(torch.matmul(q, k.permute(0, 1, 3, 2)) * scale, dim=3)
    return torch.matmul(weights, v)  # expect: attention recommend


def keep_mask(q, k, v, keep):
    """True: this key may be looked at."""
    scores = (q @ k.transpose(-1, -2)) * 0.125
    scores = scores.masked_fill(~keep[:, None, None, :], float("-inf"))
    return scores.softmax(-1) @ v  # expect: attention recommend


def zero_mask(q, k, v, mask):
    """0: this key is left out."""
    scores = (q @ k.transpose(-1, -2)) * 0.125
    scores = scores.masked_fill(mask == 0, -1e9)
    return scores.softmax(-1) @ v  # expect: attention recommend


def where_mask(q, k, v, keep):
    scores = torch.matmul(q, k.transpose(-1, -2)) * 0.125
    scores = torch.where(keep, scores, torch.finfo(scores.dtype).min)
    return torch.matmul(F.softmax(scores, dim=-1), v)  # expect: attention recommend


def where_drop(q, k, v, drop):
    scores = torch.matmul(q, k.transpose(-1, -2)) * 0.125
    scores = torch.where(drop, torch.tensor(float("-inf")), scores)
    return torch.matmul(F.softmax(scores, dim=-1), v)  # expect: attention recommend


def causal_added(q, k, v):
    scores = (q @ k.transpose(-1, -2)) * 0.125
    length = scores.size(-1)
    mask = torch.triu(torch.full((length, length), float("-inf")), 1)
    return (scores + mask).softmax(-1) @ v  # expect: attention recommend|caution


def causal_filled(q, k, v):
    scores = (q @ k.transpose(-1, -2)) * 0.125
    length = scores.size(-1)
    causal = torch.tril(torch.ones(length, length, dtype=torch.bool))
    scores = scores.masked_fill(torch.logical_not(causal), float("-inf"))
    return scores.softmax(-1) @ v  # expect: attention recommend|caution


def window(q, k, v, left):
    """-1: no window. Query i lines up with key i + (Skv - Sq)."""
    sq, sk = q.shape[-2], k.shape[-2]
    i = torch.arange(sq)[:, None] + (sk - sq)
    j = torch.arange(sk)[None]
    ok = j <= i
    if left != -1:
        ok = ok & (j > i - left)
    s = (q @ k.mT) / q.shape[-1] ** 0.5
    return s.masked_fill(~ok, float("-inf")).softmax(-1) @ v  # expect: attention recommend


def mask_in_one_branch(q, k, v, drop=None):
    scores = (q @ k.transpose(-1, -2)) * 0.125
    if drop is not None:
        scores = scores.masked_fill(drop, float("-inf"))
    return scores.softmax(-1) @ v  # expect: attention recommend


def built_by_the_caller(q, k, v, mask):
    scores = (q @ k.transpose(-1, -2)) * 0.125
    scores = scores + mask
    return scores.softmax(-1) @ v  # expect: attention recommend


def caller(q, k, v, padding):
    extended = (1.0 - padding[:, None, None, :].to(q.dtype)) * -10000.0
    return built_by_the_caller(q, k, v, extended)


def einsum_heads_first(q, k, v):
    scores = torch.einsum("bhid,bhjd->bhij", q, k) * 0.125
    return torch.einsum("bhij,bhjd->bhid", scores.softmax(dim=-1), v)  # expect: attention recommend


def shifted_by_the_largest(q, k, v):
    scores = (q @ k.transpose(-1, -2)) * 0.125
    scores = scores - scores.amax(dim=-1, keepdim=True).detach()
    return scores.softmax(dim=-1) @ v  # expect: attention recommend


def in_float32(q, k, v):
    scores = torch.matmul(q.float(), k.float().transpose(-1, -2)) * 0.125
    weights = torch.softmax(scores, dim=-1, dtype=torch.float32)
    return torch.matmul(weights.to(v.dtype), v)  # expect: attention recommend


def filled_in_place(q, k, v, drop):
    scores = torch.matmul(q, k.transpose(-1, -2)) * 0.125
    scores.masked_fill_(drop, float("-inf"))
    weights = scores.softmax(dim=-1)
    return torch.matmul(weights, v)  # expect: attention recommend


def size_in_the_mask(q, k, v):
    s = (q @ k.transpose(-1, -2)) * 0.125
    s = s + torch.triu(torch.full((s.size(-2), s.size(-1)), float("-inf")), 1)
    return s.softmax(-1) @ v  # expect: attention recommend


def torch_already_fuses(q, k, v):
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)  # clean: one kernel


def torch_with_an_added_mask(q, k, v, padding):
    mask = (1.0 - padding[:, None, None, :]) * -10000.0
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)  # expect: attention recommend


@torch.compile
def compiled(q, k, v):
    return ((q @ k.transpose(-1, -2)) * 0.125).softmax(-1) @ v  # expect: attention caution


def zeroed_by_where(q, k, v, keep):
    scores = q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5
    low = torch.scalar_tensor(float("-inf"), device=scores.device, dtype=scores.dtype)
    scores = torch.where(keep, scores, low)
    nothing = torch.scalar_tensor(0, device=scores.device, dtype=scores.dtype)
    weights = torch.where(keep, torch.softmax(scores, dim=-1), nothing)
    return weights @ v  # expect: attention recommend|caution


def zeroed_where_hidden(q, k, v, hidden):
    scores = q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5
    weights = torch.softmax(scores.masked_fill(hidden, -1e9), dim=-1)
    return torch.where(hidden, 0.0, weights) @ v  # expect: attention recommend|caution


class ZerosOrWhatIsGiven(torch.nn.Module):
    """Zeros where nothing is given say nothing of what is given: it may be a bias."""
    def forward(self, q, k, v, bias=None):
        if bias is None:
            bias = torch.zeros(1, 1, q.shape[2], k.shape[2], device=q.device, dtype=q.dtype)
        scores = q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5
        return torch.softmax(scores + bias, dim=-1) @ v  # expect: attention caution

    def zeros_alone(self, q, k, v):
        nothing = torch.zeros(1, 1, q.shape[2], k.shape[2], device=q.device, dtype=q.dtype)
        scores = q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5
        return torch.softmax(scores + nothing, dim=-1) @ v  # expect: attention recommend

    def zeros_and_low(self, q, k, v, keep):
        m = torch.where(keep, 0.0, float("-inf"))
        scores = q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5
        return torch.softmax(scores + m, dim=-1) @ v  # expect: attention recommend
