"""rms_norm of torch over more axes than the last, or over nobody knows which."""
import torch
import torch.nn.functional as F


def two_axes(x):
    return torch.rms_norm(x, x.shape[-2:])


def two_sizes(x, h, w):
    return F.rms_norm(x, (h, w), eps=1e-6)


def any_axes(x, shape):
    return F.rms_norm(x, shape)


def starred(x, shape):
    return F.rms_norm(x, (*shape,))


def epsilon_of_a_cast(x, dtype):
    # The epsilon of the dtype that x is cast to.
    return F.rms_norm(x.to(dtype), (x.size(-1),)).to(x.dtype)
