"""The activation is decided or changed elsewhere."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class ChangedLater(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.w1, self.w2 = nn.Linear(d, d), nn.Linear(d, d)
        self.act = nn.SiLU()

    def use_gelu(self):
        self.act = nn.GELU()

    def forward(self, x):
        return self.act(self.w1(x)) * self.w2(x)  # expect: swiglu caution|reject


class Base(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.w1, self.w2 = nn.Linear(d, d), nn.Linear(d, d)
        self.act = nn.SiLU()

    def forward(self, x):
        return self.act(self.w1(x)) * self.w2(x)  # expect: swiglu caution|recommend


class GeluChild(Base):
    def __init__(self, d):
        super().__init__(d)
        self.act = nn.GELU()


class OverwrittenInInit(nn.Module):
    def __init__(self, d, gelu):
        super().__init__()
        self.w1, self.w2 = nn.Linear(d, d), nn.Linear(d, d)
        self.act = nn.SiLU()
        self.act = nn.GELU()

    def forward(self, x):
        return self.act(self.w1(x)) * self.w2(x)  # expect: geglu recommend|caution


class ChosenInInit(nn.Module):
    def __init__(self, d, gelu):
        super().__init__()
        self.w1, self.w2 = nn.Linear(d, d), nn.Linear(d, d)
        if gelu:
            self.act = nn.GELU()
        else:
            self.act = nn.SiLU()

    def forward(self, x):
        return self.act(self.w1(x)) * self.w2(x)  # allow: swiglu caution


class ChosenByExpression(nn.Module):
    def __init__(self, d, relu=True):
        super().__init__()
        self.w1, self.w2 = nn.Linear(d, d), nn.Linear(d, d)
        self.act = nn.ReLU() if relu else nn.SiLU()

    def forward(self, x):
        return self.act(self.w1(x)) * self.w2(x)  # clean: ReLU by default


class GivenAtCall(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.w1, self.w2 = nn.Linear(d, d), nn.Linear(d, d)

    def forward(self, x, act=F.silu):
        return act(self.w1(x)) * self.w2(x)  # expect: swiglu caution|recommend


class NamedAtCall(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.w1, self.w2 = nn.Linear(d, d), nn.Linear(d, d)

    def forward(self, x, kind):
        if kind == "silu":
            h = F.silu(self.w1(x))
        elif kind == "gelu":
            h = F.gelu(self.w1(x))
        else:
            h = torch.relu(self.w1(x))
        return h * self.w2(x)  # expect: swiglu caution


class SetFromOutside(nn.Module):
    act = None

    def __init__(self, d):
        super().__init__()
        self.w1, self.w2 = nn.Linear(d, d), nn.Linear(d, d)

    def forward(self, x):
        return self.act(self.w1(x)) * self.w2(x)  # clean: nothing says what act is


def build(d):
    mlp = Base(d)
    mlp.act = nn.GELU()
    return mlp
