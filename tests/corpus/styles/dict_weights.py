"""Weights in a dict, as scripts for inference keep them."""
import torch
import torch.nn.functional as F


def block(params, prefix, h, eps):
    var = h.float().square().mean(dim=-1, keepdim=True)
    n = h.float() * torch.rsqrt(var + eps)  # expect: rms_norm recommend|caution
    n = n * params[prefix + "norm.weight"]
    gate = F.linear(n, params[prefix + "gate.weight"])
    up = F.linear(n, params[prefix + "up.weight"])
    return h + F.linear(F.silu(gate) * up, params[prefix + "down.weight"])  # expect: swiglu recommend|caution
