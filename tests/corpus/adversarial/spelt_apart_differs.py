"""Neighbours of einsum, addcmul, log_softmax and nn.Sequential that compute something else."""
import torch
import torch.nn.functional as F
from torch import nn


def another_axis(h, g):
    mean = torch.einsum("bsd,bsd->bd", h, h) / h.shape[1]
    return h * (mean + 1e-6).rsqrt()[:, None] * g  # clean: over the sequence


def whole_sum(h, g):
    total = torch.einsum("...d,...d->...", h, h)
    return torch.einsum("...d,...,d->...d", h, (total + 1e-6).rsqrt(), g)  # clean: a sum


def first_axis_given_back(h, g):
    mean = torch.einsum("sd,sd->s", h, h) / h.shape[-1]
    return torch.einsum("sd,s,d->ds", h, (mean + 1e-6).rsqrt(), g)  # clean: turned


def of_another(h, k, g):
    mean = torch.einsum("...d,...d->...", h, k) / h.shape[-1]
    return torch.einsum("...d,...,d->...d", h, (mean + 1e-6).rsqrt(), g)  # clean: h * k


def added_to_another(x, z, w):
    y = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)  # expect: rms_norm recommend
    return torch.addcmul(z, y, w)  # clean: z is added


def scaled_addcmul(x, w):
    y = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)  # expect: rms_norm recommend
    return torch.addcdiv(y, y, w)  # clean: divided


def axis_in_front(x, w):
    mean = (x.float() ** 2).mean(dim=-1)
    return x / (mean + 1e-6).sqrt()[None] * w  # clean: another axis


def log_weights(q, k, v):
    return F.log_softmax(q @ k.mT * 0.125, dim=-1) @ v  # clean: no exp


def log_over_queries(q, k, v):
    return F.log_softmax(q @ k.mT * 0.125, dim=-2).exp() @ v  # clean: over the queries


def narrow_of_two(x, y, size: int):
    gate = x.narrow(-1, 0, size)
    up = y.narrow(-2, 0, size)
    return F.silu(gate) * up  # expect: swiglu caution


def halves_as_pairs(x, cos, sin):
    a, b = x.unflatten(-1, (2, -1)).unbind(dim=-2)
    turned = torch.stack([a * cos - b * sin, b * cos + a * sin], dim=-1)  # expect: rope caution
    return turned.flatten(start_dim=-2)


class OtherOrder(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.gate = nn.Sequential(nn.SiLU(), nn.Linear(d, h))
        self.up = nn.Linear(d, h)

    def forward(self, x):
        return self.gate(x) * self.up(x)  # clean: the activation comes first


class AnotherBehind(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.parts = nn.ModuleDict({"gate": nn.Sequential(nn.Linear(d, h), nn.SiLU(), nn.LayerNorm(h))})
        self.up = nn.Linear(d, h)

    def forward(self, x):
        return self.parts["gate"](x) * self.up(x)  # clean: a norm between


class Replaced(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.parts = nn.ModuleDict({"act": nn.SiLU(), "gate": nn.Linear(d, h), "up": nn.Linear(d, h)})
        self.parts["act"] = nn.Tanh()

    def forward(self, x):
        return self.parts["act"](self.parts["gate"](x)) * self.parts["up"](x)  # clean: tanh


class Updated(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.parts = nn.ModuleDict({"act": nn.SiLU(), "gate": nn.Linear(d, h), "up": nn.Linear(d, h)})
        self.parts.update({"act": nn.Tanh()})

    def forward(self, x):
        return self.parts["act"](self.parts["gate"](x)) * self.parts["up"](x)  # clean: tanh


class Appended(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.gate = nn.Sequential(nn.Linear(d, h), nn.SiLU())
        self.gate.append(nn.Linear(h, h))
        self.up = nn.Linear(d, h)

    def forward(self, x):
        return self.gate(x) * self.up(x)  # clean: another layer behind


class Inserted(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.gate = nn.Sequential(nn.Linear(d, h), nn.SiLU())
        self.gate.add_module("more", nn.Linear(h, h))
        self.up = nn.Linear(d, h)

    def forward(self, x):
        return self.gate(x) * self.up(x)  # clean: another layer behind


class SetItem(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.gate = nn.Sequential(nn.Linear(d, h), nn.SiLU())
        self.gate[1] = nn.Tanh()
        self.up = nn.Linear(d, h)

    def forward(self, x):
        return self.gate(x) * self.up(x)  # clean: tanh


class ChangedLater(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.pair = nn.Sequential(nn.Linear(d, h), nn.SiLU())
        self.up = nn.Linear(d, h)

    def soften(self):
        self.pair[1] = nn.Softplus()

    def forward(self, x):
        return self.pair(x) * self.up(x)  # expect: swiglu caution


class ChangedOutside(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.stack = nn.Sequential(nn.Linear(d, h), nn.SiLU())
        self.up = nn.Linear(d, h)

    def forward(self, x):
        return self.stack(x) * self.up(x)  # expect: swiglu caution


def lengthen(model, h):
    model.stack.append(nn.Linear(h, h))
