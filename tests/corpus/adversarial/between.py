"""Something stands between the parts of the formula."""
import torch
import torch.nn.functional as F


def clamp_gate(gate, up):
    return F.silu(gate.clamp(max=7.0)) * up  # expect: swiglu reject


def clamp_up(gate, up):
    return F.silu(gate) * up.clamp(-7.0, 7.0)  # expect: swiglu reject


def clamp_silu(gate, up):
    return F.silu(gate).clamp(max=7.0) * up  # clean: the activation is clamped


def tanh_silu(gate, up):
    return torch.tanh(F.silu(gate)) * up  # clean: tanh on the activation


def dropout_silu(gate, up):
    return F.dropout(F.silu(gate), 0.1) * up  # clean: dropout in between


def dropout_norm(x, w, eps=1e-6):
    return w * F.dropout(x, 0.1) * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)  # clean: dropout on x only


def clamp_scale(x, w, eps=1e-6):
    return w * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps).clamp(max=10)  # clean: the factor is clamped


def round_norm(x, w, eps=1e-6):
    return w * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)).round()  # expect: rms_norm recommend|caution


def int_cast(x, w, eps=1e-6):
    return w * x * torch.rsqrt(x.int().pow(2).mean(-1, keepdim=True) + eps)  # clean: x is cut to whole numbers


def nan_to_num(x, w, eps=1e-6):
    return w * x * torch.rsqrt(x.pow(2).nan_to_num().mean(-1, keepdim=True) + eps)  # clean: changes values in between


def where_gate(gate, up, mask):
    return torch.where(mask, F.silu(gate), gate) * up  # clean: silu on some elements only
