"""Pairs and halves by shapes that are put together: sums of tuples, lists, lengths."""
import torch


def tuple_sum(x, cos, sin):
    a, b = x.float().reshape(x.shape[:-1] + (-1, 2)).unbind(-1)
    out = torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1)  # expect: rope recommend
    return out.flatten(-2).type_as(x)


def list_sum(x, cos, sin):
    pairs = x.view(list(x.shape[:-1]) + [-1, 2])
    a, b = pairs[..., 0], pairs[..., 1]
    return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)  # expect: rope recommend


def leading_names(x, cos, sin):
    *lead, width = x.shape
    a, b = x.view(*lead, width // 2, 2).unbind(-1)
    out = torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).view(*lead, width)  # expect: rope recommend
    return out


def shape_by_index(x, cos, sin):
    shape = x.shape
    pairs = x.reshape(shape[0], shape[1], shape[2], -1, 2)
    a, b = pairs[..., 0], pairs[..., 1]
    out = torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1)  # expect: rope recommend
    return out.reshape(shape)


def selected(x, cos, sin):
    pairs = x.reshape(*x.shape[:-1], -1, 2)
    a, b = pairs.select(-1, 0), pairs.select(-1, 1)
    return torch.stack((a * cos - b * sin, a * sin + b * cos), dim=-1).reshape(x.shape)  # expect: rope recommend


def squeezed(x, cos, sin):
    a, b = x.unflatten(-1, (-1, 2)).chunk(2, dim=-1)
    a, b = a.squeeze(-1), b.squeeze(-1)
    return torch.stack((a * cos - b * sin, a * sin + b * cos), dim=-1).flatten(-2)  # expect: rope recommend


def narrowed(x, cos, sin):
    half = x.shape[-1] // 2
    a, b = x.narrow(-1, 0, half), x.narrow(-1, half, half)
    return torch.cat((a * cos - b * sin, b * cos + a * sin), dim=-1)  # expect: rope recommend


def flattened_by_its_shape(x, table):
    pairs = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
    out = torch.view_as_real(pairs * table)
    out = out.reshape(*out.shape[:-2], -1)  # expect: rope recommend
    return out.type_as(x)
