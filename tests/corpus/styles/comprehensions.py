"""Tensors that comprehensions, generators and map() make, one for each item."""
import torch
import torch.nn.functional as F


def turn(x):
    a, b = x.chunk(2, dim=-1)
    return torch.cat((-b, a), dim=-1)


def in_list(q, k, cos, sin):
    q, k = [t * cos + turn(t) * sin for t in (q, k)]  # expect: rope caution
    return q, k


def in_generator(q, k, cos, sin):
    return tuple(t * cos + turn(t) * sin for t in (q, k))  # expect: rope caution


def in_lambda(q, k, cos, sin):
    q, k = map(lambda t: t * cos + turn(t) * sin, (q, k))  # expect: rope caution
    return q, k


def turned_back(q, k, cos, sin):
    q, k = [t * cos - turn(t) * sin for t in (q, k)]  # expect: rope caution
    return q, k


def heads(x, wq, wk, wv, h):
    q, k, v = (F.linear(x, w).unflatten(-1, (h, -1)).transpose(1, 2) for w in (wq, wk, wv))
    return torch.softmax(q @ k.mT * q.size(-1) ** -0.5, dim=-1) @ v  # expect: attention recommend


def keys_by_another(x, wq, wk, wv):
    q, k, v = [F.linear(x, w) for w in (wq, wk, wv)]
    q, k = [t.relu() for t in (q, v)]  # what looks like keys are values
    return F.silu(q) * [k, v][1]  # expect: swiglu recommend


def left_out(q, k, flags, cos, sin):
    q, k = [t * cos + turn(t) * sin for t in (q, k) if t is not None]  # expect: rope caution
    return q, k


def by_shape(x, shape, weight, eps: float):
    axes = tuple(i for i in range(-1, -len(shape) - 1, -1))
    v = x.float().pow(2).mean(axes, keepdim=True)
    return x * torch.rsqrt(v + eps) * weight  # expect: rms_norm recommend|caution


def by_doubled(x, shape, weight, eps: float):
    axes = tuple(2 * i for i in range(-1, -len(shape) - 1, -1))
    v = x.float().pow(2).mean(axes, keepdim=True)
    return x * torch.rsqrt(v + eps) * weight


def changed_in_place(gate, up):
    [t.mul_(2) for t in (gate, up)]
    gate, up = [t.neg() for t in (up, gate)]
    return F.silu(gate) * up  # expect: swiglu recommend


def name_of_its_own(gate, up, t):
    gate, up = [t * 2 for t in (gate, up)]
    return F.silu(gate) * up + t  # expect: swiglu recommend
