"""Norms of length one and their relatives."""
import torch
import torch.nn.functional as F


def unit(x):
    return x / x.norm(dim=-1, keepdim=True)  # clean: L2 norm


def unit_eps(x, eps=1e-6):
    return x * torch.rsqrt(x.pow(2).sum(-1, keepdim=True) + eps)  # clean: L2 norm


def normalized(x, w):
    return F.normalize(x, dim=-1) * w  # clean: no sqrt(d)


def normalized_channels(x, w):
    return F.normalize(x, dim=1) * w * x.shape[1] ** 0.5  # clean: over the channels


def wrong_size(x, w):
    return F.normalize(x, dim=-1) * w * x.shape[1] ** 0.5  # clean: the size of another axis


def given_size(x, w, d):
    return w * x / torch.sqrt(x.pow(2).sum(-1, keepdim=True) / d + 1e-6)  # clean: nothing says that d is the size


def l1(x, w):
    return w * x / x.norm(p=1, dim=-1, keepdim=True)  # clean: L1 norm


def std(x, w):
    return w * x / (x.std(-1, keepdim=True) + 1e-6)  # clean: standard deviation


def softmaxed(x, w):
    return w * torch.softmax(x, -1)  # clean: softmax


def group(x, w, groups):
    h = x.view(*x.shape[:-1], groups, -1)
    h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-6)  # expect: rms_norm recommend|caution
    return w * h.view_as(x)


def batch(x, w, running, eps=1e-6):
    return w * x * torch.rsqrt(running + eps)  # clean: a running statistic


def normalized_by_number(x, w):
    return F.normalize(x, dim=-1) * w * 8.0  # clean: nothing says that 8 is the root of the size


def normalized_twice(x, w):
    return F.normalize(x, dim=-1) * w * x.shape[-1] ** 0.5 * x.shape[-1] ** 0.5  # allow: rms_norm recommend


def normalized_other_power(x, w):
    return F.normalize(x, p=1, dim=-1) * w * x.shape[-1] ** 0.5  # clean: L1 norm


def normalized_least(x, w):
    return F.normalize(x, dim=-1, eps=1e-3) * w * x.shape[-1] ** 0.5  # clean: another least length


def normalized_by_temperature(x, w, temperature: float):
    return F.normalize(x, dim=-1) * temperature * w  # clean: a temperature


def normalized_by_size(x, w):
    return F.normalize(x, dim=-1) * w * x.shape[-1] ** 0.5  # expect: rms_norm recommend|caution


class OtherSize(torch.nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.scale = heads ** 0.5
        self.g = torch.nn.Parameter(torch.ones(dim))

    def forward(self, x):
        return F.normalize(x, dim=-1) * self.scale * self.g  # clean: the root of another size
