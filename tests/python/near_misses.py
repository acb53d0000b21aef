"""The near misses: code that comes close to an operator's formula, or that is it
but cannot be had for nothing. Each is a small function body; `x` and the like are
its parameters. `test_near_misses.py` says what is expected of each.
"""

HEAD = """\
import math

import torch
import torch.nn.functional as F
from torch import nn

"""


def function(arguments, *lines):
    body = "\n".join("    " + line for line in lines)
    return f"{HEAD}\ndef f({arguments}):\n{body}\n"


def norm(*lines):
    return function("x, w, eps=1e-6", *lines)


def gate(*lines):
    return function("x, w1, w3, w2", *lines)


ROTATE = """\
def turn(x):
    a, b = x.chunk(2, dim=-1)
    return torch.cat((-b, a), dim=-1)


"""


def rope(*lines, turn=ROTATE):
    text = function("q, cos, sin", *lines)
    return text.replace("\ndef f(", "\n" + turn + "def f(", 1)


def attention(*lines, arguments="q, k, v"):
    return function(arguments, *lines)


RMS_NORM = {
    "sum": norm("return x * torch.rsqrt(x.pow(2).sum(-1, keepdim=True) + eps) * w"),
    "wrong axis": norm("return x * torch.rsqrt(x.pow(2).mean(1, keepdim=True) + eps) * w"),
    "two axes": norm("return x * torch.rsqrt(x.pow(2).mean((-2, -1), keepdim=True) + eps) * w"),
    "whole tensor": norm("return x * torch.rsqrt(x.pow(2).mean() + eps) * w"),
    "eps outside the root": norm("return x / (x.pow(2).mean(-1, keepdim=True).sqrt() + eps) * w"),
    "eps by a clamp": norm(
        "return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True).clamp(min=eps)) * w"),
    "no eps": norm("return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True)) * w"),
    "mean subtracted": norm(
        "x = x - x.mean(-1, keepdim=True)",
        "return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * w"),
    "variance": norm("return x * torch.rsqrt(x.var(-1, keepdim=True, unbiased=False) + eps) * w"),
    "absolute mean": norm("return x / (x.abs().mean(-1, keepdim=True) + eps) * w"),
    "cube": norm("return x * torch.rsqrt(x.pow(3).mean(-1, keepdim=True) + eps) * w"),
    "no root": norm("return x / (x.pow(2).mean(-1, keepdim=True) + eps) * w"),
    "another tensor": function(
        "x, y, w, eps=1e-6", "return x * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + eps) * w"),
    "two plus weight": norm(
        "return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * (2 + w)"),
    "bias inside": norm(
        "return (x + 1) * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * w"),
    "the root is used again": norm(
        "r = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)",
        "return x * r * w, r"),
    "changed in place between": norm(
        "r = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)",
        "x.mul_(2)",
        "return x * r * w"),
    "added to in place between": norm(
        "r = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)",
        "x.add_(1)",
        "return x * r * w"),
    "a view is added to between": norm(
        "v = x.view(-1)",
        "r = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)",
        "v.add_(1)",
        "return x * r * w"),
    "double": norm(
        "x = x.double()",
        "return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * w"),
}

SWIGLU = {
    "gate is clamped": gate(
        "return F.linear(F.silu(F.linear(x, w1).clamp(max=7)) * F.linear(x, w3), w2)"),
    "up is clamped": gate(
        "return F.linear(F.silu(F.linear(x, w1)) * F.linear(x, w3).clamp(-7, 7), w2)"),
    "alpha": gate(
        "g = F.linear(x, w1)",
        "return F.linear(g * torch.sigmoid(1.702 * g) * F.linear(x, w3), w2)"),
    "bias inside": gate(
        "g = F.linear(x, w1)",
        "return F.linear(F.silu(g) * (F.linear(x, w3) + 1), w2)"),
    "relu": gate("return F.linear(F.relu(F.linear(x, w1)) * F.linear(x, w3), w2)"),
    "sigmoid alone": gate(
        "return F.linear(torch.sigmoid(F.linear(x, w1)) * F.linear(x, w3), w2)"),
    "another's sigmoid": gate(
        "g, u = F.linear(x, w1), F.linear(x, w3)",
        "return F.linear(g * torch.sigmoid(u) * u, w2)"),
    "sum": gate("return F.linear(F.silu(F.linear(x, w1)) + F.linear(x, w3), w2)"),
    "no gate": gate("return F.linear(F.silu(F.linear(x, w1)), w2)"),
    "one tensor": gate(
        "g = F.linear(x, w1)",
        "return F.linear(F.silu(g) * g, w2)"),
    "gate is used again": gate(
        "g = F.silu(F.linear(x, w1))",
        "return F.linear(g * F.linear(x, w3), w2), g"),
    "broadcast gate": gate(
        "g = F.linear(x, w1).mean(1, keepdim=True)",
        "return F.linear(F.silu(g) * F.linear(x, w3), w2)"),
    "a parameter": gate("return F.linear(F.silu(F.linear(x, w1)) * w3[:, None], w2)"),
    "in place on a caller's tensor": function(
        "g, u", "g.sigmoid_()", "return g * u"),
    "silu in place on a caller's tensor": function(
        "g, u", "return F.silu(g, inplace=True) * u"),
    "a view changes between": function(
        "g, u", "v = g[:]", "y = F.silu(g)", "v.add_(1)", "return y * u"),
}

GEGLU = {
    "gate is clamped": gate(
        "return F.linear(F.gelu(F.linear(x, w1).clamp(max=7)) * F.linear(x, w3), w2)"),
    "no gate": gate("return F.linear(F.gelu(F.linear(x, w1)) + 1, w2)"),
    "broadcast gate": gate(
        "g = F.linear(x, w1)[:, :1]",
        "return F.linear(F.gelu(g) * F.linear(x, w3), w2)"),
}

ROPE = {
    "the sign of the first half": rope(
        "return q * cos + turn(q) * sin",
        turn=ROTATE.replace("(-b, a)", "(b, a)")),
    "the halves in order": rope(
        "return q * cos + turn(q) * sin",
        turn=ROTATE.replace("(-b, a)", "(-a, b)")),
    "thirds": rope(
        "return q * cos + turn(q) * sin",
        turn=ROTATE.replace("a, b = x.chunk(2, dim=-1)", "a, b, c = x.chunk(3, dim=-1)")),
    "another axis": rope(
        "return q * cos + turn(q) * sin", turn=ROTATE.replace("dim=-1", "dim=-2")),
    "axis 1": rope(
        "return q * cos + turn(q) * sin",
        turn="def turn(x):\n    a, b = x.chunk(2, 1)\n    return torch.cat((-b, a), 1)\n"),
    "one table": rope("return q * cos + turn(q) * cos"),
    "another tensor": function(
        "q, k, cos, sin",
        "a, b = k.chunk(2, dim=-1)",
        "return q * cos + torch.cat((-b, a), dim=-1) * sin"),
    "a table alone": rope("return q + turn(q) * sin"),
    "double tables": rope("return q.double() * cos.double() + turn(q.double()) * sin.double()"),
    "the turned half is used again": rope("t = turn(q)", "return q * cos + t * sin, t"),
}

ATTENTION = {
    "softmax over queries": attention(
        "return (q @ k.transpose(-2, -1) * 0.125).softmax(-2) @ v"),
    "softmax over heads": attention(
        "return (q @ k.transpose(-2, -1) * 0.125).softmax(1) @ v"),
    "sigmoid": attention("return torch.sigmoid(q @ k.transpose(-2, -1) * 0.125) @ v"),
    "soft-cap": attention(
        "s = q @ k.transpose(-2, -1) * 0.125",
        "s = 50 * torch.tanh(s / 50)",
        "return s.softmax(-1) @ v"),
    "sinks": attention(
        "s = q @ k.transpose(-2, -1) * 0.125",
        "s = torch.cat([s, sink.expand(*s.shape[:-1], 1)], dim=-1)",
        "return s.softmax(-1)[..., :-1] @ v", arguments="q, k, v, sink"),
    "clamped scores": attention(
        "s = (q @ k.transpose(-2, -1) * 0.125).clamp(-50, 50)",
        "return s.softmax(-1) @ v"),
    "q and k normalised": attention(
        "s = F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).transpose(-2, -1)",
        "return s.softmax(-1) @ v"),
    "scale of each head": attention(
        "s = q @ k.transpose(-2, -1) * scale[:, None, None]",
        "return s.softmax(-1) @ v", arguments="q, k, v, scale"),
    "weights are scaled": attention(
        "w = (q @ k.transpose(-2, -1) * 0.125).softmax(-1)",
        "return (w * gate) @ v", arguments="q, k, v, gate"),
    "weights are returned": attention(
        "w = (q @ k.transpose(-2, -1) * 0.125).softmax(-1)",
        "return w @ v, w"),
    "mask of unknown values": attention(
        "s = q @ k.transpose(-2, -1) * 0.125 + mask",
        "return s.softmax(-1) @ v", arguments="q, k, v, mask"),
    "mask multiplies": attention(
        "s = q @ k.transpose(-2, -1) * 0.125 * mask",
        "return s.softmax(-1) @ v", arguments="q, k, v, mask"),
    "mask after the softmax": attention(
        "w = (q @ k.transpose(-2, -1) * 0.125).softmax(-1) * mask",
        "return w @ v", arguments="q, k, v, mask"),
    "filled with a small number": attention(
        "s = (q @ k.transpose(-2, -1) * 0.125).masked_fill(mask, -1.0)",
        "return s.softmax(-1) @ v", arguments="q, k, v, mask"),
    "learned bias": (
        HEAD + "\nclass A(nn.Module):\n    def __init__(self, n):\n        super().__init__()\n"
        "        self.bias = nn.Parameter(torch.randn(n, n))\n\n"
        "    def forward(self, q, k, v):\n"
        "        s = q @ k.transpose(-2, -1) * 0.125 + self.bias\n"
        "        return s.softmax(-1) @ v\n"),
    "computed bias": attention(
        "far = (torch.arange(q.shape[-2])[:, None] - torch.arange(k.shape[-2])[None]).abs()",
        "s = q @ k.transpose(-2, -1) * 0.125 - far * slope",
        "return s.softmax(-1) @ v", arguments="q, k, v, slope"),
    "gate of unknown values": attention(
        "s = q @ k.transpose(-2, -1) * 0.125",
        "return (s * g - 1e4 * (1 - g)).softmax(-1) @ v", arguments="q, k, v, g"),
    "scores scaled through an alias": attention(
        "s = q @ k.transpose(-2, -1) * 0.125",
        "t = s",
        "t.mul_(3)",
        "return s.softmax(-1) @ v"),
    "scores changed through a view": attention(
        "s = q @ k.transpose(-2, -1) * 0.125",
        "t = s.view(s.shape)",
        "t[..., 0] = 7",
        "return s.softmax(-1) @ v"),
    "softmax twice": attention(
        "w = (q @ k.transpose(-2, -1) * 0.125).softmax(-1)",
        "w = w / w.sum(-2, keepdim=True)",
        "return w @ v"),
    "values are not multiplied": attention(
        "return (q @ k.transpose(-2, -1) * 0.125).softmax(-1) * v"),
    "double": attention(
        "s = q.double() @ k.double().transpose(-2, -1) * 0.125",
        "return s.softmax(-1) @ v.double()"),
    "built in": attention("return F.scaled_dot_product_attention(q, k, v, is_causal=True)"),
    "built in with a float mask": attention(
        "return F.scaled_dot_product_attention(q, k, v, attn_mask=mask.float())",
        arguments="q, k, v, mask"),
}

MOE = {
    "experts of equal shares": function(
        "x, experts", "out = 0",
        "for e in experts:", "    out = out + e(x) / len(experts)", "return out"),
    "the best alone is no router": function(
        "logits", "return logits.softmax(-1).topk(5).indices"),
    "argmax router": function(
        "x, w", "p = F.linear(x, w).softmax(-1)", "return p.argmax(-1)"),
}

CASES = {
    "rms_norm": RMS_NORM, "swiglu": SWIGLU, "geglu": GEGLU, "rope": ROPE,
    "attention": ATTENTION, "moe": MOE,
}


def file_name(family, name):
    return f"{family}__{name.replace(' ', '_').replace(chr(39), '')}.py"
