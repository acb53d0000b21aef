"""Tables of which one is made otherwise: that they have one shape is not shown."""
import torch


def pairs_turned(t):
    even, odd = t[:, :, ::2], t[:, :, 1::2]
    return torch.stack((-odd, even), dim=-1).flatten(-2)


def repeated_apart(t, cosine, sine, groups):
    cosine = cosine.repeat(1, groups, 1)
    sine = sine.repeat(groups, 1, 1)
    return t * cosine + pairs_turned(t) * sine  # allow: rope caution


def scaled_apart(t, cosine, sine, a, b):
    cosine = (cosine * a).view(cosine.shape[0], -1)
    sine = (sine * b).view(sine.shape[0], -1)
    return t * cosine + pairs_turned(t) * sine  # allow: rope caution


def sized_by_another(t, cosine, sine, other):
    cosine = cosine.view(cosine.shape[0], -1)
    sine = sine.view(other.shape[0], -1)
    return t * cosine + pairs_turned(t) * sine  # allow: rope caution
