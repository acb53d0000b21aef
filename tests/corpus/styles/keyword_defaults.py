"""Settings that are taken out of **kwargs, with their default beside."""
import torch.nn.functional as F
from torch import nn

TABLE = {"silu": F.silu, "gelu": F.gelu}


class Settings:
    def __init__(self, width=64, **kwargs):
        self.width = width
        self.scale = kwargs.pop("scale", 4)
        self.kind = kwargs.pop("kind", "silu")


class Gated(nn.Module):
    def __init__(self, settings: Settings):
        super().__init__()
        self.first = nn.Linear(settings.width, 256)
        self.second = nn.Linear(settings.width, 256)
        self.last = nn.Linear(256, settings.width)
        self.kind = TABLE[settings.kind]

    def forward(self, x):
        return self.last(self.kind(self.first(x)) * self.second(x))  # expect: swiglu recommend


class Wider(Settings):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.wide_kind = kwargs.get("wide_kind", "silu")


class GatedWide(nn.Module):
    def __init__(self, settings: Wider):
        super().__init__()
        self.first = nn.Linear(settings.width, 256)
        self.second = nn.Linear(settings.width, 256)
        self.kind = TABLE[settings.wide_kind]

    def forward(self, x):
        return self.kind(self.first(x)) * self.second(x)  # expect: swiglu recommend


def pick(**kwargs):
    return TABLE[kwargs["kind"] if "kind" in kwargs else "silu"]


def picked(x, y):
    return pick()(x) * y  # expect: swiglu recommend


def picked_by_name(x, y):
    return pick(kind="silu", other=2)(x) * y  # expect: swiglu recommend


def given_away_to_print(x, y):
    options = {"kind": "silu"}
    print(options)
    return TABLE[options["kind"]](x) * y  # expect: swiglu recommend
