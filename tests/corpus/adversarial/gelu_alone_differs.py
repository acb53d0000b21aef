"""Close to GELU alone, and none; or torch's own, which needs no operator."""
import math

import torch
import torch.nn.functional as F


def without_half(x):
    return x * (1.0 + torch.erf(x / math.sqrt(2.0)))  # clean: twice a GELU


def wider(x):
    return 0.5 * x * (1.0 + torch.erf(x / math.sqrt(3.0)))  # clean: another width


def complement(x):
    return 0.5 * x * torch.erfc(x / math.sqrt(2.0))  # clean: x * Phi(-x)


def quadratic(x):
    inner = 0.7978845608 * (x + 0.044715 * x ** 2)
    return 0.5 * x * (1.0 + torch.tanh(inner))  # clean: a square, not a cube


def other_constant(x):
    inner = 0.7978845608 * (x + 0.04471 * x ** 3)
    return 0.5 * x * (1.0 + torch.tanh(inner))  # clean: 0.04471 is another polynomial


def of_another(x, y):
    return 0.5 * x * (1.0 + torch.erf(y / math.sqrt(2.0)))  # clean: x gated by y


def scaled(x):
    return 2.0 * (0.5 * F.gelu(x))  # clean: torch's own gelu is one kernel already


def mish(x):
    return x * torch.tanh(F.softplus(x))  # clean: Mish


def half_doubled(x):
    return 0.5 * F.gelu(x)  # clean: half of torch's own


def normal_cdf(x):
    return 0.5 * (1.0 + torch.erf(x / math.sqrt(2.0)))  # clean: the distribution alone
