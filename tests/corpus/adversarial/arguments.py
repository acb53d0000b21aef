"""Stars, keywords and defaults."""
import torch
import torch.nn.functional as F


def act_of(x, slope=1.0):
    return x * torch.sigmoid(slope * x)


def sloped(gate, up):
    return act_of(gate, 2.0) * up  # clean: the slope is 2


def plain(gate, up):
    return act_of(gate) * up  # expect: swiglu recommend|caution


def starred(gate, up, *rest):
    return act_of(gate, *rest) * up  # clean: the slope is unknown


def keyworded(gate, up, **kw):
    return act_of(gate, **kw) * up  # clean: the slope is unknown


def args_only(*args):
    return F.silu(args[0]) * args[1]  # expect: swiglu caution|recommend


def norm(x, dim=-1, eps=1e-6):
    return x * torch.rsqrt(x.pow(2).mean(dim, keepdim=True) + eps)  # clean: the axis is an argument


def by_other_axis(x):
    return norm(x, 1)  # clean: axis 1


def by_default_axis(x, w):
    return w * norm(x)  # expect: rms_norm recommend|caution


def keep(x, keepdim=False, eps=1e-6):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=keepdim) + eps)  # clean: keepdim is an argument


def eps_of_unknown_kind(x, w, eps):
    # A tensor as epsilon is no argument of the operator: the guard sees to it.
    h = x.float()
    return w * h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + eps)  # expect: rms_norm recommend
