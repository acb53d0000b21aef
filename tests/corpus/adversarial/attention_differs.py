"""Softmax of products that is no attention the operator has, or not provably."""
import torch
import torch.nn.functional as F
from torch import nn


def other_axis(q, k, v):
    scores = q @ k.transpose(-1, -2)
    return scores.softmax(-2) @ v  # clean: the softmax is over the queries


def weights_without_values(q, k):
    return (q @ k.transpose(-1, -2)).softmax(-1)  # clean: no values


def linear_attention(q, k, v):
    q = q.softmax(-1)
    k = k.softmax(-2)
    return q @ (k.transpose(-1, -2) @ v)  # clean: no product under the softmax


def soft_capped(q, k, v):
    scores = q @ k.transpose(-1, -2) * 0.1
    scores = torch.tanh(scores / 50.0) * 50.0
    return scores.softmax(-1) @ v  # clean: a soft-cap


def soft_capped_by_choice(q, k, v, cap=None):
    scores = q @ k.transpose(-1, -2) * 0.1
    if cap is not None:
        scores = torch.tanh(scores / cap) * cap
    return scores.softmax(-1) @ v  # expect: attention caution


def sink(q, k, v, sinks):
    scores = torch.cat([q @ k.transpose(-1, -2), sinks], dim=-1)
    return scores.softmax(-1)[..., :-1] @ v  # clean: a sink is joined


def learned_scale(q, k, v, logit_scale: torch.Tensor):
    scores = q @ k.transpose(-1, -2) * logit_scale.exp()
    return scores.softmax(-1) @ v  # clean: the scale is a tensor


def filled_with_zero(q, k, v, drop):
    scores = (q @ k.transpose(-1, -2)).masked_fill(drop, 0.0)
    return scores.softmax(-1) @ v  # clean: zero is a score like any other


def gated_weights(q, k, v, gate):
    weights = (q @ k.transpose(-1, -2)).softmax(-1) * gate
    return weights @ v  # clean: the weights are multiplied


def unknown_bias(q, k, v, rel_bias, scale: float):
    scores = torch.matmul(q, k.transpose(2, 3)) * scale
    scores = scores + rel_bias
    weights = torch.softmax(scores, dim=-1, dtype=torch.float32).to(q.dtype)
    return torch.matmul(weights, v)  # expect: attention caution


class PositionBias(nn.Module):
    def __init__(self, heads, size):
        super().__init__()
        self.table = nn.Parameter(torch.zeros(1, heads, size, size))

    def forward(self, q, k, v):
        scores = q @ k.transpose(-1, -2) * 0.125 + self.table
        return scores.softmax(-1) @ v  # expect: attention caution


def tiled_heads(q, k, v, times: int):
    k = k.repeat(1, times, 1, 1)
    v = v.repeat(1, times, 1, 1)
    scores = q @ k.transpose(-1, -2) * 0.125
    return scores.softmax(-1) @ v  # allow: attention recommend


def bidirectional(q, k, v, w):
    scores = q @ k.transpose(-1, -2)
    scores = scores.clamp(min=-50000.0, max=50000.0)
    return scores.softmax(-1) @ v  # clean: clamped on both sides


def keys_scaled_by_tensor(q, k, v, alpha):
    scores = (q @ k.transpose(-1, -2)) * alpha[..., None, :]
    return F.softmax(scores, -1) @ v  # clean: the scores are multiplied by a tensor


def zeroed_by_another_mask(q, k, v, keep, other):
    scores = q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5
    weights = torch.softmax(scores.masked_fill(~keep, -1e9), dim=-1)
    return torch.where(other, weights, 0.0) @ v  # expect: attention caution


def zeroed_where_kept(q, k, v, keep):
    scores = q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5
    weights = torch.softmax(scores.masked_fill(~keep, -1e9), dim=-1)
    return torch.where(keep, 0.0, weights) @ v  # expect: attention caution


def ones_elsewhere(q, k, v, keep):
    scores = q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5
    weights = torch.softmax(scores.masked_fill(~keep, -1e9), dim=-1)  # allow: scaled_masked_softmax caution
    return torch.where(keep, weights, 1.0) @ v  # clean: ones, not zeros
