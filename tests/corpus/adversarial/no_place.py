"""The form is there, but no place where the replacement would mean the same."""
import torch
import torch.nn.functional as F


def deleted(x, w, eps=1e-6):
    s = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)
    y = x * s
    del x
    return y * w  # expect: rms_norm caution


def bound_anew(x, w, eps=1e-6):
    s = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)
    y = x * s
    x = x + 1
    return w * y, x  # expect: rms_norm caution


def listed(gate, up, log):
    h = F.silu(gate)
    log.append(h)
    h *= up  # expect: swiglu caution
    return h


def hidden(torch_npu, w, eps=1e-6):
    return w * torch_npu * torch.rsqrt(torch_npu.pow(2).mean(-1, keepdim=True) + eps)  # expect: rms_norm caution


def around(gate, up):
    def inner(z):
        return F.silu(gate) * up + z  # expect: swiglu recommend|caution

    return list(map(inner, [gate]))
