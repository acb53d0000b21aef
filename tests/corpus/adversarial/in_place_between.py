"""Tensors change between the reading of the statistic and its use."""
import torch


def add_(x, w, eps=1e-6):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)
    x.add_(1)
    return w * x * scale  # clean: x changed


def augmented(x, w, eps=1e-6):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)
    x += 1
    return w * x * scale  # clean: x changed


def stored(x, w, eps=1e-6):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)
    x[..., 0] = 0
    return w * x * scale  # clean: x changed


def by_alias(x, w, eps=1e-6):
    y = x
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)
    y.mul_(2)
    return w * x * scale  # clean: y is x


def by_view(x, w, eps=1e-6):
    y = x.view(-1)
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)
    y.mul_(2)
    return w * x * scale  # clean: y shares x's memory


def zero_rows(t):
    t[..., 0] = 0


def by_helper(x, w, eps=1e-6):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)
    zero_rows(x)
    return w * x * scale  # clean: the helper changes x


def by_unknown(x, w, hook, eps=1e-6):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)
    hook(x)
    return w * x * scale  # expect: rms_norm caution|recommend


def out_argument(x, w, eps=1e-6):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)
    torch.add(x, 1, out=x)
    return w * x * scale  # clean: out= writes into x


def filled(x, w, eps=1e-6):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)
    x.fill_(1.0)
    return w * x * scale  # clean: x is filled


def copied(x, y, w, eps=1e-6):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)
    x.copy_(y)
    return w * x * scale  # clean: x is y by now


def masked(x, mask, w, eps=1e-6):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)
    x.masked_fill_(mask, 0)
    return w * x * scale  # clean: x changed


def gate_changes(gate, up):
    s = torch.sigmoid(gate)
    gate.mul_(2)
    return gate * s * up  # clean: gate changed


def data_changes(x, w, eps=1e-6):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)
    x.data = x.data * 2
    return w * x * scale  # clean: x has other data


def inplace_functional(x, w, eps=1e-6):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)
    torch.nn.functional.relu(x, inplace=True)
    return w * x * scale  # clean: relu wrote into x


def relu_fn(x, w, eps=1e-6):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)
    torch.relu_(x)
    return w * x * scale  # clean: relu_ wrote into x


def caller_tensor(x, w, eps=1e-6):
    x *= torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)  # allow: rms_norm caution
    return w * x  # allow: rms_norm caution


def caller_alias(x, w, eps=1e-6):
    y = x
    y *= torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)  # allow: rms_norm caution
    return w * y  # allow: rms_norm caution


def caller_gate(gate, up):
    gate *= torch.sigmoid(gate)  # allow: swiglu caution
    return gate * up  # allow: swiglu caution


def caller_silu(gate, up):
    return torch.nn.functional.silu(gate, inplace=True) * up  # expect: swiglu caution


def caller_up(gate, up):
    up *= torch.nn.functional.silu(gate)  # expect: swiglu caution
    return up
