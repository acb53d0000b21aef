"""What is normalised is not what was measured."""
import torch


def y_by_x(x, y, w, eps=1e-6):
    return w * y * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)  # clean: y by the size of x


def half_measured(x, w, eps=1e-6):
    a, b = x.chunk(2, dim=-1)
    return w * a * torch.rsqrt(b.pow(2).mean(-1, keepdim=True) + eps)  # clean: another half


def whole_by_slice(x, w, d, eps=1e-6):
    return w * x * torch.rsqrt(x[..., :d].pow(2).mean(-1, keepdim=True) + eps)  # clean: measured on a slice


def other_slice(x, w, d, eps=1e-6):
    return w * x[..., d:] * torch.rsqrt(x[..., :d].pow(2).mean(-1, keepdim=True) + eps)  # clean: other slice


def cross(x, y, w, eps=1e-6):
    return w * x * torch.rsqrt((x * y).mean(-1, keepdim=True) + eps)  # clean: x * y, not x * x


def shifted(x, w, eps=1e-6):
    return w * (x + 1) * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)  # clean: x + 1 is normalised


def random_twice(x, w, eps=1e-6):
    a = torch.randn(4, 8)
    b = torch.randn(4, 8)
    return w * a * torch.rsqrt(b.pow(2).mean(-1, keepdim=True) + eps)  # clean: two draws


def dropout_twice(x, w, eps=1e-6):
    a = torch.nn.functional.dropout(x, 0.1)
    b = torch.nn.functional.dropout(x, 0.1)
    return w * a * torch.rsqrt(b.pow(2).mean(-1, keepdim=True) + eps)  # clean: two masks


def unknown_twice(x, w, net, eps=1e-6):
    return w * net(x) * torch.rsqrt(net(x).pow(2).mean(-1, keepdim=True) + eps)  # clean: net may be random


def rebound(x, w, eps=1e-6):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)
    x = x @ w
    return x * scale  # clean: x is another tensor by now
