"""Tables that are made wide by a helper, scaled or not, alike for both."""
import torch


def pairs_turned(t):
    even, odd = t[:, :, ::2], t[:, :, 1::2]
    return torch.stack((-odd, even), dim=-1).flatten(-2)


def twice(table):
    rows = table.shape[0]
    table = table.view(-1, 1).repeat(1, 2)
    return table.view(rows, -1)


def scaled(t, cosine, sine, decay=1):
    sine, cosine = map(lambda w: twice(w * decay), (sine, cosine))
    return t * cosine + pairs_turned(t) * sine  # expect: rope recommend


def repeated(t, cosine, sine, groups):
    if groups > 1:
        cosine = cosine.repeat(1, groups, 1)
        sine = sine.repeat(1, groups, 1)
    return t * cosine + pairs_turned(t) * sine  # expect: rope recommend
