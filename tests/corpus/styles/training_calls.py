"""Optimizers, clipping and losses of training code, however they are called."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import optim
from torch.nn import CrossEntropyLoss
from torch.nn.utils import clip_grad_norm_ as clip
from torch.optim import AdamW as Decoupled

MAKERS = {"adam": optim.Adam, "sgd": torch.optim.SGD}
PADDING = 0
NOTHING = -100


def by_name(model):
    return torch.optim.AdamW(model.parameters(), lr=1e-3)  # expect: fused_optimizer caution


def by_alias(model):
    return Decoupled(model.parameters(), 1e-3, (0.9, 0.95), 1e-8, 0.1)  # expect: fused_optimizer caution


def by_table(model, rate):
    return MAKERS["sgd"](model.parameters(), lr=rate, momentum=0.9)  # expect: fused_optimizer caution


def by_local_name(model):
    maker = optim.RMSprop
    return maker(model.parameters(), foreach=True, maximize=False)  # expect: fused_optimizer caution


def imported_here(model, **more):
    from torch.optim import Adadelta as Slow

    return Slow(model.parameters(), **more)  # expect: fused_optimizer caution


class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = optim.Adam(model.parameters(), lr=1e-4)  # expect: fused_optimizer caution

    def step(self, loss):
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)  # expect: clip_grad_norm caution
        self.optimizer.step()


async def clip_quietly(model):
    clip(model.parameters(), 0.5, error_if_nonfinite=False)  # expect: clip_grad_norm caution


def torch_runs_it(model):
    return optim.AdamW(model.parameters(), lr=1e-3, fused=True)  # expect: fused_optimizer reject


def other_direction(model):
    return optim.AdamW(model.parameters(), lr=1e-3, maximize=True)  # expect: fused_optimizer reject


def no_rate(model):
    return optim.SGD(model.parameters())  # expect: fused_optimizer reject


def raises(model):
    clip(model.parameters(), 1.0, error_if_nonfinite=True)  # expect: clip_grad_norm reject


def plain_loss(logits, labels):
    return F.cross_entropy(logits, labels)  # expect: cross_entropy reject


def told_nothing(logits, labels):
    return F.cross_entropy(logits, labels, ignore_index=NOTHING)  # expect: cross_entropy reject


def ignoring_mean(logits, labels):
    return F.cross_entropy(logits, labels, ignore_index=PADDING)  # expect: cross_entropy reject


def weighted_mean(logits, labels, weight):
    return F.cross_entropy(logits, labels, weight)  # expect: cross_entropy reject


class Smooth(nn.Module):
    def __init__(self):
        super().__init__()
        self.loss = CrossEntropyLoss(label_smoothing=0.1)  # expect: cross_entropy reject
        self.rows = CrossEntropyLoss(ignore_index=PADDING, reduction="none")  # expect: cross_entropy caution


def ignoring_sum(logits, labels):
    return F.cross_entropy(logits, labels, ignore_index=PADDING, reduction="sum")  # expect: cross_entropy caution


if __name__ == "__main__":
    network = nn.Linear(4, 4)
    optimizer = optim.SGD(network.parameters(), lr=0.1)  # expect: fused_optimizer caution
