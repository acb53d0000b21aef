"""The reduction is not the mean of squares over the last axis."""
import torch


def summed(x, w, eps=1e-6):
    return w * x * torch.rsqrt(x.pow(2).sum(-1, keepdim=True) + eps)  # clean: sum


def other_axis(x, w, eps=1e-6):
    return w * x * torch.rsqrt(x.pow(2).mean(1, keepdim=True) + eps)  # clean: axis 1 of a tensor of unknown rank


def two_axes(x, w, eps=1e-6):
    return w * x * torch.rsqrt(x.pow(2).mean((-2, -1), keepdim=True) + eps)  # clean: two axes


def whole(x, w, eps=1e-6):
    return w * x * torch.rsqrt(x.pow(2).mean() + eps)  # clean: the whole tensor


def no_keepdim(x, w, eps=1e-6):
    return w * x * torch.rsqrt(x.pow(2).mean(-1) + eps)  # clean: keepdim is missing


def abs_mean(x, w, eps=1e-6):
    return w * x / (x.abs().mean(-1, keepdim=True) + eps)  # clean: mean of absolute values


def median(x, w, eps=1e-6):
    return w * x * torch.rsqrt(x.pow(2).median(-1, keepdim=True).values + eps)  # clean: median


def biggest(x, w, eps=1e-6):
    return w * x * torch.rsqrt(x.pow(2).amax(-1, keepdim=True) + eps)  # clean: maximum
