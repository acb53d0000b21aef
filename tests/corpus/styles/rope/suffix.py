"""The end of the head is rotated: nope first."""
import torch


def turn(x):
    a, b = torch.split(x, x.shape[-1] // 2, dim=-1)
    return torch.cat([b.neg(), a], dim=-1)


def rotate_tail(q, cos, sin, nope, rope):
    q_nope, q_pe = torch.split(q, [nope, rope], dim=-1)
    q_pe = q_pe * cos + turn(q_pe) * sin  # expect: rope recommend
    return torch.cat([q_nope, q_pe], dim=-1)


def rotate_end(x, cos, sin):
    width = cos.shape[-1]
    tail = x[..., -width:]
    return torch.cat([x[..., :-width], tail * cos + turn(tail) * sin], dim=-1)  # expect: rope recommend


def into_the_past(x, cos, sin):
    a, b = x.chunk(2, -1)
    return x * cos + torch.cat((b, -a), -1) * sin  # expect: rope recommend


def minus(x, cos, sin):
    return x * cos - turn(x) * sin  # expect: rope recommend
