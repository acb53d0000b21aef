"""The last axis is counted from the front."""
import torch


def rank_asserted(x, cos, sin):
    assert x.ndim == 4
    half = x.shape[3] // 2
    a, b = x[..., :half], x[..., half:]
    return torch.cat([a * cos + b * sin, a * (-sin) + b * cos], 3)  # expect: rope recommend


def rank_unpacked(x, cos, sin):
    b, s, h, d = x.shape
    first, second = x.split(d // 2, dim=3)
    return torch.cat([first * cos - second * sin, first * sin + second * cos], dim=3)  # expect: rope recommend


def indices_counted(x, cos, sin, width: int):
    turned = torch.cat([-x[:, :, :, width:], x[:, :, :, :width]], dim=-1)
    return x * cos + turned * sin  # expect: rope recommend
