import math

import torch.nn as nn
import torch.nn.functional as F
import torch_npu


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.scaling = 0.125
        self.q_proj = nn.Linear(dim, dim)
        self.k_proj = nn.Linear(dim, dim)
        self.v_proj = nn.Linear(dim, dim)

    def forward(self, x):
        b, s, _ = x.shape
        q = self.q_proj(x).view(b, s, self.heads, -1).transpose(1, 2)
        k = self.k_proj(x).view(b, s, self.heads, -1).transpose(1, 2)
        v = self.v_proj(x).view(b, s, self.heads, -1).transpose(1, 2)
        return torch_npu.npu_fusion_attention(q, k, v, self.heads, "BNSD")[0]

    def scaled(self, x):
        b, s, _ = x.shape
        q = self.q_proj(x).view(b, s, self.heads, -1).transpose(1, 2) * self.scaling
        k = self.k_proj(x).view(b, s, self.heads, -1).transpose(1, 2)
        v = self.v_proj(x).view(b, s, self.heads, -1).transpose(1, 2)
        return torch_npu.npu_fusion_attention(q, k, v, self.heads, "BNSD")[0]


def not_shown(q, k, v):
    return torch_npu.npu_fusion_attention(q, k, v, 8, "BNSD")[0]


# ---- these are right ----

def scaled_here(q, k, v):
    q = q / math.sqrt(q.shape[-1])
    return torch_npu.npu_fusion_attention(q, k, v, 8, "BNSD")[0]


def key_scaled(q, k, v):
    return torch_npu.npu_fusion_attention(q, k * 0.125, v, 8, "BNSD")[0]


def written_out(q, k, v):
    return torch_npu.npu_fusion_attention(q, k, v, 8, "BNSD", scale=1.0)[0]


def by_keywords(q, k, v, kwargs):
    return torch_npu.npu_fusion_attention(q, k, v, 8, "BNSD", **kwargs)[0]


def helper(q, k, v):
    return torch_npu.npu_fusion_attention(q, k, v, 8, "BNSD")[0]


def caller_scales(x, w, k, v):
    return helper(F.linear(x, w) * (64 ** -0.5), k, v)
