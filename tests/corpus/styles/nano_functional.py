"""Plain functions on weights, one line each."""
import torch
import torch.nn.functional as F


def rmsnorm(x, w, eps=1e-5):
    return x / (x * x).mean(-1, keepdim=True).add(eps).sqrt() * w  # expect: rms_norm recommend


def swiglu(x, wg, wu, wd):
    return (F.silu(x @ wg) * (x @ wu)) @ wd  # expect: swiglu recommend|caution
