"""Pairs of the first columns, by a table of both that is cut to the length; the
batch axis is left to the view."""
import torch

EXPECT = {"rope": 1}


def apply_rotary(x, table):
    # x (length, batch, heads, head_dim), table (longest, rotary / 4, 2)
    length, batch, heads = x.size(0), x.size(1), x.size(2)
    width = table.shape[-2] * 2
    x, rest = x[..., :width], x[..., width:]
    table = table[:length]
    pairs = x.reshape(length, -1, heads, width // 2, 2)
    table = table.view(length, -1, 1, pairs.size(3), 2)
    turned = torch.stack(
        [
            pairs[..., 0] * table[..., 0] - pairs[..., 1] * table[..., 1],
            pairs[..., 1] * table[..., 0] + pairs[..., 0] * table[..., 1],
        ],
        -1,
    )
    return torch.cat((turned.flatten(3), rest), dim=-1)


def make():
    return apply_rotary


def inputs(dtype):
    angles = torch.randn(9, 8)
    table = torch.stack([angles.cos(), angles.sin()], dim=-1).to(dtype)
    return [(torch.randn(5, 2, 3, 32).to(dtype), table), (torch.randn(9, 1, 3, 16).to(dtype), table)]
