"""Branches, loops and handlers between the parts."""
import torch
import torch.nn.functional as F


def gate_by_branch(x, y, flag):
    gate = x
    if flag:
        gate = y
    return F.silu(gate) * x  # expect: swiglu caution|recommend


def maybe_centred(x, w, centre, eps=1e-6):
    if centre:
        x = x - x.mean(-1, keepdim=True)
    return w * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)  # expect: rms_norm caution|recommend|reject


def maybe_root(x, w, plain, eps=1e-6):
    scale = x.pow(2).mean(-1, keepdim=True) + eps
    if not plain:
        scale = torch.rsqrt(scale)
    return w * x * scale  # clean: the root is taken sometimes


def maybe_scaled(x, w, eps=1e-6, flag=False):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)
    if flag:
        x = x * 2
    return w * x * scale  # clean: x may be doubled


def carried(x, w, n, eps=1e-6):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)
    for _ in range(n):
        x = x * scale  # clean: x is another from the second turn on
    return x * w


def carried_scale(xs, w, eps=1e-6):
    scale, out = 1.0, []
    for x in xs:
        out.append(x * scale * w)  # clean: the factor of the turn before
        scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)
    return out


def mutated_in_loop(x, w, n, eps=1e-6):
    out = []
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)
    for _ in range(n):
        out.append(w * x * scale)  # clean: x changes at the end of each turn
        x.add_(1)
    return out


def handled(x, w, eps=1e-6):
    try:
        scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)
    except RuntimeError:
        scale = 1.0
    return w * x * scale  # clean: 1.0 where it fails


def after_while(gate, up):
    while gate.norm() > 10:
        gate = gate / 2
    return F.silu(gate) * up  # expect: swiglu caution|recommend


def matched(gate, up, kind):
    match kind:
        case "silu":
            h = F.silu(gate)
        case _:
            h = torch.relu(gate)
    return h * up  # clean: an argument chooses


def early(x, w, eps=1e-6):
    var = x.pow(2).mean(-1, keepdim=True)
    if var.max() < eps:
        return x
    return w * x * torch.rsqrt(var + eps)  # expect: rms_norm recommend|caution


def walrus(x, w, eps=1e-6):
    return w * (x * torch.rsqrt((v := x.pow(2).mean(-1, keepdim=True)) + eps)) + v  # expect: rms_norm caution|recommend


def walrus_rebinds(x, w, y, eps=1e-6):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)
    return w * (x := y) * scale  # clean: y by the size of x


def tuple_swap(gate, up):
    s = F.silu(gate)
    gate, up = up, gate
    return s * up  # clean: silu(gate) * gate
