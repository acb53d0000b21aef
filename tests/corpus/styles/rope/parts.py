"""Rotations whose parts lie in no form of a rule: told, not written."""
import torch
from einops import rearrange


def in_place_pairs(x, cos, sin):
    y = torch.empty_like(x)
    y[..., ::2] = x[..., ::2] * cos - x[..., 1::2] * sin  # expect: rope caution
    y[..., 1::2] = x[..., ::2] * sin + x[..., 1::2] * cos
    return y


def in_place_halves(x, cos, sin):
    half = x.shape[-1] // 2
    y = x.clone()
    y[..., :half] = x[..., :half] * cos - x[..., half:] * sin  # expect: rope caution
    y[..., half:] = x[..., half:] * cos + x[..., :half] * sin
    return y


def tiles(x, cache, tiles: int):
    b, _, heads, width = x.shape
    pairs = x.float().reshape(b, tiles, -1, heads, width // 2, 2)
    out = torch.stack(  # expect: rope caution
        [
            pairs[..., 0] * cache[..., 0] - pairs[..., 1] * cache[..., 1],
            pairs[..., 1] * cache[..., 0] + pairs[..., 0] * cache[..., 1],
        ],
        -1,
    )
    return out.reshape(b, -1, heads, width).type_as(x)


def three_sections(x, cos, sin):
    a, b, rest = x.split([16, 16, 32], dim=-1)
    return torch.cat([a * cos - b * sin, b * cos + a * sin, rest], dim=-1)  # expect: rope caution


def parts_first(x, cos, sin):
    a, b = rearrange(x, "b h n (d r) -> r b h n d", r=2)
    return rearrange([a * cos - b * sin, b * cos + a * sin], "r b h n d -> b h n (d r)")  # expect: rope recommend


def in_float64(x, tables):
    out = []
    for i, table in enumerate(tables):
        z = torch.view_as_complex(x[i].to(torch.float64).reshape(x.shape[1], x.shape[2], -1, 2))
        out.append(torch.view_as_real(z * table).flatten(2))  # expect: rope caution
    return torch.stack(out).float()


def one_table_in_turn(x, table):
    cos = table[..., None, 1::2].repeat_interleave(2, dim=-1)
    sin = table[..., None, ::2].repeat_interleave(2, dim=-1)
    turned = torch.stack([-x[..., 1::2], x[..., ::2]], -1).reshape(x.shape)
    return x * cos + turned * sin  # expect: rope recommend|caution


def written_back(x, cos, sin):
    a = x[..., ::2].clone()
    b = x[..., 1::2].clone()
    x[..., ::2] = a * cos - b * sin  # expect: rope caution
    x[..., 1::2] = a * sin + b * cos
    return x


def written_by_name(x, y, cos, sin):
    a, b = x[..., ::2], x[..., 1::2]
    even = a * cos - b * sin  # expect: rope caution
    odd = a * sin + b * cos
    y[..., ::2] = even
    y[..., 1::2] = odd
    return y


def written_at_once(q, cos, sin):
    d = q.shape[-1] // 2
    first, second = q[..., :d], q[..., d:]
    left = first * cos - second * sin  # expect: rope caution
    right = second * cos + first * sin
    q[..., :d], q[..., d:] = left, right
    return q
