"""Sums of products of parts that are no rotation, or of what is no split axis."""
import torch


def both_minus(x, cos, sin):
    y = torch.empty_like(x)
    y[..., ::2] = x[..., ::2] * cos - x[..., 1::2] * sin  # clean: minus in both
    y[..., 1::2] = x[..., 1::2] * cos - x[..., ::2] * sin
    return y


def both_plus(x, cos, sin):
    y = torch.empty_like(x)
    y[..., ::2] = x[..., ::2] * cos + x[..., 1::2] * sin  # clean: plus in both
    y[..., 1::2] = x[..., 1::2] * cos + x[..., ::2] * sin
    return y


def tables_exchanged(x, cos, sin):
    y = torch.empty_like(x)
    y[..., ::2] = x[..., ::2] * cos - x[..., 1::2] * sin  # clean: sine and cosine change places
    y[..., 1::2] = x[..., 1::2] * sin + x[..., ::2] * cos
    return y


def other_angle(x, cos, sin, cos2, sin2):
    y = torch.empty_like(x)
    y[..., ::2] = x[..., ::2] * cos - x[..., 1::2] * sin  # clean: two angles
    y[..., 1::2] = x[..., 1::2] * cos2 + x[..., ::2] * sin2
    return y


def one_table(x, cos):
    y = torch.empty_like(x)
    y[..., ::2] = x[..., ::2] * cos - x[..., 1::2] * cos  # clean: no sine
    y[..., 1::2] = x[..., 1::2] * cos + x[..., ::2] * cos
    return y


def of_two(x, z, cos, sin):
    y = torch.empty_like(x)
    y[..., ::2] = x[..., ::2] * cos - z[..., 1::2] * sin  # clean: parts of two tensors
    y[..., 1::2] = z[..., 1::2] * cos + x[..., ::2] * sin
    return y


def points(xy, cos, sin):
    x, y = xy[..., 0], xy[..., 1]
    return torch.stack([x * cos - y * sin, x * sin + y * cos], dim=-1)  # clean: points in a plane


def boxes(corners, cos, sin):
    corners = corners.view(-1, 4, 2)
    x, y = corners[..., 0], corners[..., 1]
    return torch.stack([x * cos - y * sin, x * sin + y * cos], dim=-1)  # clean: corners, not joined again


def product_of_numbers(a, b):
    real = a[..., 0] * b[..., 0] - a[..., 1] * b[..., 1]
    imag = a[..., 0] * b[..., 1] + a[..., 1] * b[..., 0]
    return torch.stack((real, imag), dim=-1)  # clean: numbers times numbers


def next_token(x, cos, sin):
    y = x.clone()
    y[:, :-1] = x[:, :-1] * cos - x[:, 1:] * sin  # clean: pairs of neighbouring tokens are none of a token
    return y


def masked_spectrum(spectrum, mask):
    z = torch.view_as_complex(spectrum.view(spectrum.shape[0], -1, 2))
    return torch.view_as_real(z * mask)  # clean: stays complex numbers


def already_overwritten(x, cos, sin):
    x[..., ::2] = x[..., ::2] * cos - x[..., 1::2] * sin
    x[..., 1::2] = x[..., ::2] * sin + x[..., 1::2] * cos  # clean: of what the line above wrote
    return x


def view_already_overwritten(x, cos, sin):
    a, b = x[..., ::2], x[..., 1::2]
    x[..., ::2] = a * cos - b * sin
    x[..., 1::2] = a * sin + b * cos  # clean: a is a view of what was overwritten
    return x


def one_place_twice(x, y, cos, sin):
    y[..., ::2] = x[..., ::2] * cos - x[..., 1::2] * sin  # clean: the next line overwrites it
    y[..., ::2] = x[..., ::2] * sin + x[..., 1::2] * cos
    return y


def two_targets(x, y, z, cos, sin):
    y[..., ::2] = x[..., ::2] * cos - x[..., 1::2] * sin  # clean: never one tensor
    z[..., 1::2] = x[..., ::2] * sin + x[..., 1::2] * cos
    return y, z
