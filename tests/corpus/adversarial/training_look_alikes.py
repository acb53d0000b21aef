"""Names of torch's training calls that are something else, or never called."""
import functools

import torch
from bitsandbytes.optim import AdamW
from torch.nn import functional as F


class SGD:
    """Saves good descriptions."""

    def __init__(self, items, lr):
        self.items, self.lr = items, lr


class Adam(torch.optim.Adam):
    """Ours: another step."""

    def step(self, closure=None):
        return None


def own_class(items):
    return SGD(items, lr=1)  # clean: a class of this file


def own_step(model):
    return Adam(model.parameters(), lr=1e-3)  # clean: a subclass with a step of its own


def other_library(model):
    return AdamW(model.parameters(), lr=1e-3)  # clean: another library's


def shadowed(optim, model):
    return optim.AdamW(model.parameters(), lr=1e-3)  # clean: `optim` is handed in


def not_called(kind):
    return torch.optim.AdamW if kind == "w" else torch.optim.Adam  # clean: no call


def handed_over(build, model):
    return build(torch.optim.AdamW, model)  # clean: another function makes it


def later(rate):
    return functools.partial(torch.optim.SGD, lr=rate)  # clean: not made yet


def of_the_accelerator(accelerator, model):
    accelerator.clip_grad_norm_(model.parameters(), 1.0)  # clean: the accelerator's own


def clip_grad_norm_(parameters, most):
    return min(most, max(p.grad.abs().max() for p in parameters))


def own_clipping(model):
    return clip_grad_norm_(model.parameters(), 1.0)  # clean: a function of this file


class Losses:
    def cross_entropy(self, logits, labels):
        return F.nll_loss(F.log_softmax(logits, -1), labels)

    def total(self, logits, labels):
        return self.cross_entropy(logits, labels)  # clean: a method of its own


def by_value(model):
    try:
        import torch_npu

        return torch_npu.optim.NpuFusedAdamW(model.parameters(), lr=1e-3)
    except ImportError:
        return torch.optim.AdamW(model.parameters(), lr=1e-3)  # clean: the other branch is fused


def binary(logits, labels):
    return F.binary_cross_entropy_with_logits(logits, labels)  # clean: another loss
