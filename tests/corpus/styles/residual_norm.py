"""Residual first, and a bias behind."""
import torch
from torch import nn


class AddNorm(nn.Module):
    def __init__(self, dim, eps=1e-5):
        super().__init__()
        self.gamma = nn.Parameter(torch.ones(dim))
        self.beta = nn.Parameter(torch.zeros(dim))
        self.eps = eps

    def forward(self, x, residual):
        residual = residual + x
        h = residual.float()
        y = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + self.eps) * self.gamma  # expect: rms_norm recommend  # expect: add_rms_norm caution
        return (y + self.beta).to(x.dtype), residual


class QKNorm(nn.Module):
    def __init__(self, head_dim):
        super().__init__()
        self.q_gain = nn.Parameter(torch.ones(head_dim))
        self.k_gain = nn.Parameter(torch.ones(head_dim))

    def forward(self, q, k):
        q = q * torch.rsqrt(q.square().mean(-1, keepdim=True) + 1e-6) * self.q_gain  # expect: rms_norm recommend
        k = k * torch.rsqrt(k.square().mean(-1, keepdim=True) + 1e-6) * self.k_gain  # expect: rms_norm recommend
        return q, k
