"""Sums of a tensor and of the same in another order that are no rotation."""
import torch


def rolled_halves(x, cos, sin):
    return x * cos + torch.roll(x, x.shape[-1] // 2, dims=-1) * sin  # clean: no half is negative


def rolled_by_one(x, now, before):
    return x * now + torch.roll(x, 1, dims=1) * before  # clean: the token before, not the other half


def flipped_pairs(x, cos, sin):
    other = x.reshape(*x.shape[:-1], -1, 2).flip(-1).reshape(x.shape)
    return x * cos + other * sin  # clean: a reflection, no element is negative


def both_halves_negative(x, cos, sin):
    a, b = x.chunk(2, dim=-1)
    other = torch.cat((-b, -a), dim=-1)
    return x * cos + other * sin  # clean: both halves are negative


def shuffled(x, order, gate, mix):
    return x * gate + torch.index_select(x, -1, order) * mix  # clean: any order of channels


def mixed_by_matrices(x, tables):
    pairs = x.reshape(*x.shape[:-1], -1, 2)
    return torch.einsum("bhnfi,nfjk->bhnfk", pairs, tables)  # clean: summed over another axis


def turned_once(x, cos, sin):
    a, b = x.chunk(2, dim=-1)
    return torch.cat([a * cos - b * sin, b], dim=-1)  # clean: the second half stays


def scaled_apart(x, cos, sin, scale):
    a, b = x.chunk(2, dim=-1)
    first = (a * cos - b * sin) * scale
    return torch.cat([first, b * cos + a * sin], dim=-1)  # clean: one half alone is scaled
