"""Expressions within expressions."""
import torch
import torch.nn.functional as F


def nested(x, w, down, gate, up):
    return down(
        F.silu(gate(h := w * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6))))  # expect: rms_norm recommend|caution
        * up(h)  # expect: swiglu recommend|caution
    )


def conditional(x, w, flag):
    return (w * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)) if flag else x  # expect: rms_norm recommend|caution


def in_call(x, w, attend):
    return attend(q=x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6), k=x)  # expect: rms_norm recommend|caution


def listed(xs):
    return [F.silu(a) * b for a, b in xs]  # expect: swiglu caution
