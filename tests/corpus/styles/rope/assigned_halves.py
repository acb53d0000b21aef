"""Halves written into a tensor of the same shape."""
import torch


def rotate(x, cos, sin):
    h = x.shape[-1] // 2
    x1, x2 = x[..., :h], x[..., h:]
    out = torch.empty_like(x)
    out[..., :h] = x1 * cos - x2 * sin  # expect: rope caution
    out[..., h:] = x2 * cos + x1 * sin
    return out


def rotate_pairs(x, cos, sin):
    turned = torch.zeros_like(x)
    turned[..., ::2] = -x[..., 1::2]
    turned[..., 1::2] = x[..., ::2]
    return x * cos + turned * sin  # expect: rope caution


def turned(x):
    half = x.shape[-1] // 2
    first, second = x[..., :half], x[..., half:]
    out = torch.empty_like(x)
    out[..., :half] = -second
    out[..., half:] = first
    return out


def neighbours_turned(x):
    out = torch.zeros_like(x)
    out[..., 1::2] = x[..., 0::2]
    out[..., 0::2] = -x[..., 1::2]
    return out


def by_a_helper(q, cos, sin):
    return q * cos + turned(q) * sin  # expect: rope recommend


def by_a_helper_in_pairs(q, cos, sin):
    return (q * cos) + (neighbours_turned(q) * sin)  # expect: rope recommend


def here(q, cos, sin):
    half = q.shape[-1] // 2
    out = torch.empty_like(q)
    out[..., :half] = -q[..., half:]
    out[..., half:] = q[..., :half]
    return q * cos + out * sin  # expect: rope caution


class Keeps(torch.nn.Module):
    """What the helper stores would be missing where it is not called."""
    def turn(self, x):
        first, second = x.chunk(2, dim=-1)
        out = torch.cat((-second, first), dim=-1)
        self.last = out
        return out

    def forward(self, q, cos, sin):
        return q * cos + self.turn(q) * sin  # expect: rope caution
