"""Flux: 2x2 matrices for each pair."""
import torch
from einops import rearrange


def rope(pos, dim, theta):
    scale = torch.arange(0, dim, 2, dtype=pos.dtype, device=pos.device) / dim
    omega = 1.0 / (theta**scale)
    out = torch.einsum("...n,d->...nd", pos, omega)
    out = torch.stack([torch.cos(out), -torch.sin(out), torch.sin(out), torch.cos(out)], dim=-1)
    out = rearrange(out, "b n d (i j) -> b n d i j", i=2, j=2)
    return out.float()


def apply_rope(xq, xk, freqs_cis):
    xq_ = xq.float().reshape(*xq.shape[:-1], -1, 1, 2)
    xk_ = xk.float().reshape(*xk.shape[:-1], -1, 1, 2)
    xq_out = freqs_cis[..., 0] * xq_[..., 0] + freqs_cis[..., 1] * xq_[..., 1]  # expect: rope recommend
    xk_out = freqs_cis[..., 0] * xk_[..., 0] + freqs_cis[..., 1] * xk_[..., 1]  # expect: rope recommend
    return xq_out.reshape(*xq.shape).type_as(xq), xk_out.reshape(*xk.shape).type_as(xk)


def added_in_place(x, matrices):
    rows = x.to(matrices.dtype).reshape(*x.shape[:-1], -1, 1, 2)
    out = matrices[..., 0] * rows[..., 0]
    out.addcmul_(matrices[..., 1], rows[..., 1])
    return out.reshape(*x.shape).type_as(x)  # expect: rope recommend|caution


def unbound(x, matrices):
    even, odd = x.unflatten(-1, (-1, 1, 2)).unbind(-1)
    return (matrices[..., 0] * even + matrices[..., 1] * odd).flatten(-2)  # expect: rope recommend


def summed(q, matrices):
    rows = q.reshape(*q.shape[:-1], -1, 1, 2)
    return (rows * matrices).sum(5).flatten(3)  # expect: rope recommend


def summed_last(q, matrices):
    rows = q.reshape(*q.shape[:-1], -1, 1, 2)
    return (rows * matrices).sum(dim=-1).flatten(-2)  # expect: rope recommend


def rows_by_an_axis(q, matrices):
    pairs = q.float().view(*q.size()[:-1], -1, 2)
    out = matrices[:, -q.size(1):, None].mul(pairs.unsqueeze(-2))
    return out.sum(5).flatten(3).type_as(q)  # expect: rope recommend


def rows_by_an_index(q, matrices):
    pairs = q.unflatten(-1, (-1, 2))
    return (pairs[..., None, :] * matrices).sum(-1).flatten(-2)  # expect: rope recommend


def of_a_part_or_all(q, matrices, width, cut):
    head = q[..., :width] if cut else q
    pairs = head.view(*q.shape[:-1], -1, 2)
    turned = (matrices * pairs.unsqueeze(-2)).sum(-1).flatten(-2)  # expect: rope recommend
    return torch.cat([turned, q[..., width:]], dim=-1) if cut else turned
