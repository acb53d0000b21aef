"""Other powers and roots."""
import torch


def cube(x, w, eps=1e-6):
    return w * x * torch.rsqrt(x.pow(3).mean(-1, keepdim=True) + eps)  # clean: x**3


def fourth(x, w, eps=1e-6):
    return w * x * torch.rsqrt(x.pow(2).pow(2).mean(-1, keepdim=True) + eps)  # clean: x**4


def no_root(x, w, eps=1e-6):
    return w * x / (x.pow(2).mean(-1, keepdim=True) + eps)  # clean: no square root


def multiplied_root(x, w, eps=1e-6):
    return w * x * torch.sqrt(x.pow(2).mean(-1, keepdim=True) + eps)  # clean: multiplies by the root


def fourth_root(x, w, eps=1e-6):
    return w * x / (x.pow(2).mean(-1, keepdim=True) + eps).sqrt().sqrt()  # clean: fourth root


def square_of_mean(x, w, eps=1e-6):
    return w * x * torch.rsqrt(x.mean(-1, keepdim=True).pow(2) + eps)  # clean: square of the mean


def exponent_given(x, w, p, eps=1e-6):
    return w * x * torch.rsqrt(x.pow(p).mean(-1, keepdim=True) + eps)  # clean: the power is an argument


def negative(x, w, eps=1e-6):
    return w * -x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)  # clean: the sign


def squared_out(x, w, eps=1e-6):
    h = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)  # expect: rms_norm recommend|caution
    return w * h * h
