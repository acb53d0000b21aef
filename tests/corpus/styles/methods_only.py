"""Everything by methods, and operators by function."""
import operator

import torch


def norm(x, w, eps=1e-6):
    return x.mul(x.square().mean(-1, keepdim=True).add(eps).rsqrt()).mul(w)  # expect: rms_norm recommend


def norm_function(x, w, eps=1e-6):
    return torch.multiply(torch.div(x, torch.sqrt(torch.add(torch.mean(torch.pow(x, 2), -1, keepdim=True), eps))), w)  # expect: rms_norm recommend


def by_operator(x, w, eps=1e-6):
    return operator.mul(operator.mul(x, torch.rsqrt(operator.add(x.pow(2).mean(-1, keepdim=True), eps))), w)  # expect: rms_norm recommend


def multiplied_out(x, w, eps=1e-6):
    variance = torch.mean(x.float() * x.float(), dim=-1, keepdim=True)
    scale = w / torch.sqrt(variance + eps)
    return x * scale  # expect: rms_norm recommend


def constant_eps(x, w):
    return w * x * torch.rsqrt(1e-6 + x.pow(2).mean(-1, keepdim=True))  # expect: rms_norm recommend


def finfo_eps(x, w):
    return w * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + torch.finfo(x.dtype).eps)  # expect: rms_norm recommend|caution
