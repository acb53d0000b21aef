"""Gradients are turned off and on by statements, not by a block."""
import contextlib

import torch


def switched(x, w, eps=1e-6):
    torch.set_grad_enabled(False)
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)
    torch.set_grad_enabled(True)
    return w * (x * scale)  # clean: the statistic is a constant


def given_back(x, w, eps=1e-6):
    before = torch.is_grad_enabled()
    torch.set_grad_enabled(False)
    var = x.pow(2).mean(-1, keepdim=True)
    torch.set_grad_enabled(before)
    return w * (x * torch.rsqrt(var + eps))  # clean: the statistic is a constant


def entered(x, w, eps=1e-6):
    off = torch.no_grad()
    off.__enter__()
    var = x.pow(2).mean(-1, keepdim=True)
    off.__exit__(None, None, None)
    return w * (x * torch.rsqrt(var + eps))  # clean: the statistic is a constant


def stacked(x, w, eps=1e-6):
    with contextlib.ExitStack() as stack:
        stack.enter_context(torch.no_grad())
        scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)
    return w * (x * scale)  # clean: the statistic is a constant


def on(x, w, eps=1e-6):
    torch.set_grad_enabled(True)
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)
    return w * (x * scale)  # expect: rms_norm recommend


def all_off(x, w, eps=1e-6):
    torch.set_grad_enabled(False)
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)
    return w * (x * scale)  # expect: rms_norm recommend|caution
