"""Attention behind switches of the module."""
import math
import torch
from torch import nn
import torch.nn.functional as F
try:
    from flash_attn import flash_attn_func
    HAS_FLASH = True
except ImportError:
    HAS_FLASH = False
try:
    import xformers
    XFORMERS = True
except ImportError:
    XFORMERS = False
USE_NAIVE = False
impl = "absorb"
FLAG = True


def by_try(q, k, v):
    if XFORMERS:
        return xformers.ops.memory_efficient_attention(q, k, v)
    else:
        return (q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))).softmax(dim=-1) @ v  # expect: attention recommend


def by_try2(q, k, v):
    if HAS_FLASH:
        return flash_attn_func(q, k, v)
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    return scores.softmax(dim=-1) @ v  # expect: attention recommend


def by_flag(q, k, v):
    if USE_NAIVE:
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
        return scores.softmax(dim=-1) @ v  # expect: attention recommend
    return F.scaled_dot_product_attention(q, k, v)


def by_flag_true(q, k, v):
    if not FLAG:
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
        return scores.softmax(dim=-1) @ v  # expect: attention recommend
    return F.scaled_dot_product_attention(q, k, v)


def by_word(q, k, v, mask):
    if impl == "naive":
        scores = torch.einsum("bshd,bthd->bsht", q, k) * 0.1
    else:
        scores = torch.einsum("bshc,btc->bsht", q, k) * 0.1
    if mask is not None:
        scores += mask.unsqueeze(1)
    scores = scores.softmax(dim=-1, dtype=torch.float32).type_as(q)
    if impl == "naive":
        x = torch.einsum("bsht,bthd->bshd", scores, v)  # expect: attention caution
    else:
        x = torch.einsum("bsht,btc->bshc", scores, v)
    return x
