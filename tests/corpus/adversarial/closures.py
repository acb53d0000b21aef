"""Nested functions and what they capture."""
import torch
import torch.nn.functional as F


def captured_changes(x, w, eps=1e-6):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)

    def apply(y):
        return w * y * scale

    return apply(x) + apply(x + 1)  # allow: rms_norm caution


def late_binding(gate, ups):
    out = []
    for act in (F.silu, torch.tanh):
        out.append(lambda u: act(gate) * u)  # clean: act is the last of the loop
    return [f(u) for f, u in zip(out, ups)]


def nonlocal_change(x, w, eps=1e-6):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)

    def other():
        nonlocal x
        x = x * 2

    other()
    return w * x * scale  # clean: other() binds x


def default_kept(gate, up, act=torch.tanh):
    return (lambda g, a=act: a(g))(gate) * up  # clean: tanh


def inner_norm(x, w, eps=1e-6):
    def norm(t):
        return t * torch.rsqrt(t.pow(2).mean(-1, keepdim=True) + eps)  # allow: rms_norm recommend|caution

    return w * norm(x)  # expect: rms_norm recommend|caution


def generated(xs, w, eps=1e-6):
    for x in xs:
        yield w * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps))  # expect: rms_norm recommend|caution


def between_yields(x, w, eps=1e-6):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)
    yield x
    return w * x * scale  # expect: rms_norm caution|recommend


async def awaited(source, w, eps=1e-6):
    x = await source()
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)
    x = await source()
    return w * x * scale  # clean: another tensor
