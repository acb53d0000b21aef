"""Tables that have fewer dimensions than what they turn: broadcast from the right."""
import torch

EXPECT = {"rope": 5}
CALLS = 5  # each of them, on every input


def rotate_half(x):
    x1, x2 = x.chunk(2, dim=-1)
    return torch.cat((-x2, x1), dim=-1)


def by_halves(x, cos, sin):
    return x * cos + rotate_half(x) * sin


def by_pairs(x, cos, sin):
    turned = torch.stack([-x[..., 1::2], x[..., 0::2]], dim=-1).flatten(-2)
    return x * cos + turned * sin


def by_narrow_halves(x, cos, sin):
    a, b = x.chunk(2, dim=-1)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)


def by_narrow_pairs(x, cos, sin):
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack([a * cos - b * sin, b * cos + a * sin], dim=-1).flatten(-2)


def by_numbers(x, cos, sin):
    freqs = torch.complex(cos.float(), sin.float())
    pairs = torch.view_as_complex(x.float().unflatten(-1, (-1, 2)))
    return torch.view_as_real(pairs * freqs).flatten(-2)


def make():
    def turned(x, cos, sin, narrow_cos, narrow_sin):
        return (
            by_halves(x, cos, sin),
            by_pairs(x, cos, sin),
            by_narrow_halves(x, narrow_cos, narrow_sin),
            by_narrow_pairs(x, narrow_cos, narrow_sin),
            by_numbers(x, narrow_cos, narrow_sin),
        )

    return turned


def tables(dtype, *shapes):
    x = torch.randn(2, 4, 5, 32).to(dtype)
    for shape in shapes:
        wide, narrow = torch.randn(*shape, 32), torch.randn(*shape, 16)
        yield x, wide.cos(), wide.sin(), narrow.cos(), narrow.sin()


def inputs(dtype):
    return list(tables(dtype, (5,), (1, 5), (1, 1, 5)))


def excluded(dtype):
    # They vary with the head, but not with the batch.
    return list(tables(dtype, (4, 5)))
