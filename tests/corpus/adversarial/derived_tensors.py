"""One factor depends on the other in a way that changes its shape or order."""
import torch
import torch.nn.functional as F


def transposed(x):
    return F.silu(x) * x.transpose(-1, -2)  # expect: swiglu caution|recommend


def reduced(gate, up):
    return F.silu(gate) * up.mean(-1, keepdim=True)  # clean: a mean is broadcast


def maximum(gate, up):
    return F.silu(gate) * up.amax(dim=-1, keepdim=True)  # clean: a maximum is broadcast


def router(x, w, experts):
    probs = torch.softmax(x @ w, -1)
    return F.silu(x) * probs[..., :1]  # clean: one column is broadcast


def gathered(x, index):
    return F.silu(x) * x.gather(-1, index)  # expect: swiglu caution|recommend


def positional(x, table, pos):
    return F.silu(x) * table[pos]  # expect: swiglu caution|recommend


def scalar_item(x, t):
    return F.silu(x) * t.item()  # clean: a Python number


def size_factor(x):
    return F.silu(x) * x.shape[-1]  # clean: a Python number


def step_factor(x, step: int):
    return F.silu(x) * step  # clean: a Python number


def float_factor(x, beta: float = 0.5):
    return F.silu(x) * beta  # clean: a Python number


def norm_factor(x, w, alpha: float):
    return alpha * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6))  # expect: rms_norm caution|recommend
