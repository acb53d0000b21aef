"""Copies that keep the numbers: clone() among the steps of a formula."""
import torch
import torch.nn.functional as F


def rotate_half(x):
    first = x[..., : x.shape[-1] // 2].clone()
    second = x[..., x.shape[-1] // 2 :].clone()
    return torch.cat((-second, first), dim=-1)


def rope(q, cos, sin):
    return (q * cos) + (rotate_half(q) * sin)  # expect: rope recommend


def norm(x, weight):
    h = x.clone()
    return weight * (h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-6))  # expect: rms_norm recommend


def norm_of_changed_copy(x, weight):
    h = x.clone()
    h.mul_(2)
    return weight * (h * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6))  # clean: h is 2 x


def gated(x):
    gate, up = x.chunk(2, -1)
    return F.silu(gate.clone()) * up.clone()  # expect: swiglu recommend


def attention(q, k, v):
    w = (q.clone() @ k.clone().transpose(-1, -2) * 0.125).softmax(-1).clone()
    return w @ v  # expect: attention recommend


class Experts:
    def forward(self, x, chosen, weights, extra):
        out = torch.zeros_like(x)
        for e in range(8):
            rows, slot = torch.where(chosen == e)
            h = F.silu(self.w1[e].forward(x[rows], extra=extra)) * self.w3[e].forward(x[rows], extra=extra)  # allow: swiglu caution|recommend
            h = self.w2[e].forward(h, extra=extra)
            out.index_add_(0, rows, h * weights[rows, slot, None])  # expect: moe caution
        return out
