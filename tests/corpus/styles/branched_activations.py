"""The activation of a gated unit, chosen by a branch."""
import torch.nn.functional as F
from torch import nn


class Base(nn.Module):
    def __init__(self, width, inner, kind):
        super().__init__()
        self.gate = nn.Linear(width, inner)
        self.up = nn.Linear(width, inner)
        self.down = nn.Linear(inner, width)
        self.kind = kind


class WithoutElse(Base):
    def forward(self, x):
        gate = self.gate(x)
        if self.kind == "silu":
            y = F.silu(gate)
        elif self.kind == "gelu":
            y = F.gelu(gate, approximate="tanh")
        y = y * self.up(x)  # expect: swiglu caution
        return self.down(y)


class Default(nn.Module):
    def __init__(self, width, inner, kind="swish"):
        super().__init__()
        self.gate = nn.Linear(width, inner)
        self.up = nn.Linear(width, inner)
        self.kind = kind

    def act(self, x):
        if self.kind == "gelu":
            return F.gelu(x)
        if self.kind in ("silu", "swish"):
            return F.silu(x)
        raise ValueError(self.kind)

    def forward(self, x):
        return self.act(self.gate(x)) * self.up(x)  # expect: swiglu recommend


class ByFlag(nn.Module):
    def __init__(self, width, inner, exact=False):
        super().__init__()
        self.gate = nn.Linear(width, inner)
        self.up = nn.Linear(width, inner)
        self.exact = exact

    def forward(self, x):
        gate = self.gate(x)
        y = F.gelu(gate) if self.exact else F.silu(gate)
        return y * self.up(x)  # expect: swiglu recommend


class GeluByDefault(nn.Module):
    def __init__(self, width, inner, kind="gelu"):
        super().__init__()
        self.gate = nn.Linear(width, inner)
        self.up = nn.Linear(width, inner)
        self.kind = kind

    def forward(self, x):
        gate = self.gate(x)
        if self.kind == "silu":
            gate = F.silu(gate)
        else:
            gate = F.gelu(gate)
        return gate * self.up(x)  # expect: geglu recommend


def chosen_by_match(x, kind):
    gate, up = x.chunk(2, dim=-1)
    if not kind == "silu":
        gate = F.relu(gate)
    else:
        gate = F.silu(gate)
    gate *= up  # expect: swiglu caution
    return gate


class InBothBranches(nn.Module):
    """Gate and up by a branch; the activation stands in either arm, the product behind."""
    def __init__(self, dim, inner):
        super().__init__()
        self.gate, self.up = nn.Linear(dim, inner), nn.Linear(dim, inner)
        self.short_gate, self.short_up = nn.Linear(dim, inner), nn.Linear(dim, inner)

    def forward(self, x):
        if x.shape[0] < 8:
            gate = F.silu(self.short_gate(x))
            up = self.short_up(x)
        else:
            gate = self.gate(x)
            up = self.up(x)
            gate = F.silu(gate)
        return gate * up  # expect: swiglu caution

    def gelu_in_both(self, x):
        gate = self.short_gate(x) if x.shape[0] < 8 else self.gate(x)
        act = F.gelu(gate) if x.shape[0] < 8 else F.gelu(gate + 1)
        return act * self.up(x)  # expect: geglu caution
