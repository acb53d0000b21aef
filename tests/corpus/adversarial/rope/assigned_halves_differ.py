"""Halves that are written into a tensor, and are no turn."""
import torch


def changed_between(q, cos, sin):
    half = q.shape[-1] // 2
    out = torch.empty_like(q)
    out[..., :half] = -q[..., half:]
    q.mul_(2)
    out[..., half:] = q[..., :half]
    return q * cos + out * sin  # clean: the second half is of other numbers


def written_twice(q, cos, sin):
    half = q.shape[-1] // 2
    out = torch.empty_like(q)
    out[..., :half] = -q[..., half:]
    out[..., half:] = q[..., :half]
    out[..., half:] = q[..., half:]
    return q * cos + out * sin  # clean: the last one counts


def one_half(q, cos, sin):
    half = q.shape[-1] // 2
    out = torch.zeros_like(q)
    out[..., :half] = -q[..., half:]
    return q * cos + out * sin  # clean: nothing is written in the other half


def through_a_view(q, cos, sin):
    half = q.shape[-1] // 2
    out = torch.empty_like(q)
    low = out[..., :half]
    out[..., :half] = -q[..., half:]
    out[..., half:] = q[..., :half]
    low.zero_()
    return q * cos + out * sin  # clean: a view of it is changed


def broadcast(q, row, cos, sin):
    half = q.shape[-1] // 2
    out = torch.empty_like(q)
    out[..., :half] = -row[..., half:]
    out[..., half:] = row[..., :half]
    return q * cos + out * sin  # clean: of another tensor, which may be a row


def halves_and_pairs(q, cos, sin):
    half = q.shape[-1] // 2
    out = torch.empty_like(q)
    out[..., :half] = -q[..., half:]
    out[..., 1::2] = q[..., :half]
    return q * cos + out * sin  # clean: the two overlap
