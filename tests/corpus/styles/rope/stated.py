"""What a function says of its tensors before it turns them."""
import torch


def rotate_half(x):
    a, b = x.chunk(2, dim=-1)
    return torch.cat((-b, a), dim=-1)


def tables_that_are_checked(x, cos, sin):
    if cos.dim() != 3:
        raise ValueError(f"cos has {cos.dim()} dimensions")
    if cos.shape != sin.shape:
        raise ValueError("the tables differ")
    lacking = x.dim() - cos.dim()
    if lacking > 0:
        shape = cos.shape[0:1] + (1,) * lacking + cos.shape[1:]
        cos = cos.view(*shape)
        sin = sin.view(*shape)
    return (x * cos) + (rotate_half(x) * sin)  # expect: rope recommend


def asserted(x, angles_cos, angles_sin):
    assert x.ndim == 4 and angles_cos.dim() == 2
    assert angles_cos.shape == angles_sin.shape, "tables"
    return x * angles_cos + rotate_half(x) * angles_sin  # expect: rope recommend


def asserted_of_five_axes(video, cos, sin):
    assert len(video.shape) == 5
    return video * cos + rotate_half(video) * sin  # expect: rope caution


def spelled_in_two_ways(x, cos, sin):
    cos, sin = cos[:, None], sin.unsqueeze(1)
    return x * cos + rotate_half(x) * sin  # expect: rope caution|recommend
