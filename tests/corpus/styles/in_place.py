"""In-place operators on fresh tensors."""
import torch
import torch.nn.functional as F


def norm(x, w, eps=1e-6):
    h = x.float()
    h = h * torch.rsqrt_(h.pow(2).mean(-1, keepdim=True).add_(eps))  # allow: rms_norm recommend|caution
    return h * w


def glu(x, w1, w3):
    h = F.silu(F.linear(x, w1))
    h *= F.linear(x, w3)  # expect: swiglu recommend|caution
    return h


def glu_method(x, w1, w3):
    h = F.silu(x @ w1)
    h.mul_(x @ w3)  # allow: swiglu recommend|caution
    return h
