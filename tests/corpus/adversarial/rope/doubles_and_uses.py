"""Float64, and values that are used elsewhere."""
import torch


def rotate_half(x):
    a, b = x.chunk(2, dim=-1)
    return torch.cat((-b, a), dim=-1)


def in_float64(x, cos, sin):
    x = x.double()
    return (x * cos + rotate_half(x) * sin).float()  # clean: float64


def kept(x, cos, sin):
    turned = rotate_half(x)
    y = x * cos + turned * sin  # expect: rope caution
    return y, turned


def changed_between(x, cos, sin):
    left = x * cos
    x.mul_(2)
    return left + rotate_half(x) * sin  # clean: x is another then


def written_between(x, cos, sin):
    turned = rotate_half(x)
    sin.neg_()
    return x * cos + turned * sin  # expect: rope recommend|caution


class Named:
    """Names mean nothing."""

    def apply_rotary_pos_emb(self, q, cos, sin):
        return q * cos + q * sin  # clean: nothing is turned

    def rope(self, x, cos, sin):
        return x * cos + x.flip(-1) * sin  # clean: reversed, not turned
