"""Sites inside of branches, loops, with and try."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Branches(nn.Module):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))
        self.eps = eps

    def forward(self, x, residual=None, fast=False):
        if residual is not None:
            x = x + residual
        if fast:
            return F.rms_norm(x, x.shape[-1:], self.weight, self.eps)  # expect: rms_norm recommend
        else:
            var = x.pow(2).mean(-1, keepdim=True)
            y = x * torch.rsqrt(var + self.eps) * self.weight  # expect: rms_norm recommend
        return y


def with_autocast(x, w, eps=1e-6):
    with torch.autocast("cuda", enabled=False):
        h = x.float()
        h = w.float() * (h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + eps))  # expect: rms_norm recommend|caution
    return h.to(x.dtype)


def without_gradients(x, w, eps=1e-6):
    with torch.no_grad():
        h = x.float()
        var = h.pow(2).mean(-1, keepdim=True)
        h = w * (h * torch.rsqrt(var + eps))  # expect: rms_norm recommend|caution
        return h.to(x.dtype)


@torch.inference_mode()
def layers(h, mlps):
    for gate, up, down in mlps:
        h = h + down(F.silu(gate(h)) * up(h))  # expect: swiglu recommend|caution
    return h


def tried(gate, up):
    try:
        return F.silu(gate) * up  # expect: swiglu recommend|caution
    except RuntimeError:
        return None


def early_return(x, w, eps=1e-6):
    if x.numel() == 0:
        return x
    return w * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)  # expect: rms_norm recommend
