"""Which element a name gets is not known, or it is a tensor."""
import torch


def tensor_behind(q, k, v, gate):
    b, n, d, factor = *q.shape, torch.sigmoid(gate)
    w = torch.softmax(q @ k.transpose(-2, -1) * factor, dim=-1)
    return w @ v  # clean: the scores are multiplied by a tensor


def two_stars(q, k, v, rest):
    b, n, d, factor = *q.shape, *rest
    w = torch.softmax(q @ k.transpose(-2, -1) * factor, dim=-1)
    return w @ v  # allow: attention caution|recommend
