"""Gate and up come from two objects of one class, or of one function called twice: that
they have one shape is tested at run time, and a recommend is right."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from kernels import block_gemm, dequantize, quantize  # not in sight


def product(x, weight, bias=None):
    if weight.element_size() > 1:
        return F.linear(x, weight, bias)
    x, scale = quantize(x)
    y = block_gemm(x, scale, weight)
    if bias is not None:
        y += bias
    return y


class Projection(nn.Module):
    def __init__(self, width, out, bias=False):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(out, width))
        self.bias = nn.Parameter(torch.empty(out)) if bias else None

    def forward(self, x):
        return product(x, self.weight, self.bias)


class Expert(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.w1 = Projection(dim, hidden)
        self.w2 = Projection(hidden, dim)
        self.w3 = Projection(dim, hidden)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))  # expect: swiglu recommend


class OneWide(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.w1 = Projection(dim, 1)
        self.w3 = Projection(dim, hidden)

    def forward(self, x):
        return F.silu(self.w1(x)) * self.w3(x)  # expect: swiglu caution


class TwoInputs(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.w1 = Projection(dim, hidden)
        self.w3 = Projection(dim, hidden)

    def forward(self, x, y):
        return F.silu(self.w1(x)) * self.w3(y)  # expect: swiglu caution


class Packed(nn.Module):
    def __init__(self, experts, dim, hidden):
        super().__init__()
        self.w1 = nn.Parameter(torch.empty(experts, hidden, dim))
        self.w3 = nn.Parameter(torch.empty(experts, hidden, dim))

    def gemm(self, x, weight, sizes):
        rows, start = [], 0
        for i, size in enumerate(sizes.tolist()):
            rows.append(x[start:start + size] @ weight[i].t())
            start += size
        return torch.cat(rows)

    def forward(self, x, sizes):
        gate = self.gemm(x, dequantize(self.w1), sizes)
        up = self.gemm(x, dequantize(self.w3), sizes)
        return F.silu(gate) * up  # expect: swiglu recommend


class Chosen(nn.Module):
    def __init__(self, experts, dim, hidden):
        super().__init__()
        self.w1 = nn.Parameter(torch.empty(experts, hidden, dim))
        self.w3 = nn.Parameter(torch.empty(experts, hidden, dim))

    def forward(self, x, chosen):
        gate = F.silu(torch.einsum("ti,taoi -> tao", x, self.w1[chosen]))
        return gate * torch.einsum("ti, taoi->tao", x, self.w3[chosen])  # expect: swiglu recommend

    def other_equation(self, x, chosen):
        gate = F.silu(torch.einsum("ti,taoi -> ta", x, self.w1[chosen])).unsqueeze(-1)
        return gate * torch.einsum("ti,taoi -> tao", x, self.w3[chosen])


class Plain(nn.Module):
    def __init__(self, dim, hidden=None):
        super().__init__()
        self.dim = dim
        self.hidden = hidden or 4 * dim
        self.up = nn.Linear(dim, self.hidden)


class Gated(Plain):
    def __init__(self, dim, hidden=None):
        super().__init__(dim, hidden)
        self.gate = nn.Linear(self.dim, self.hidden)

    def forward(self, x):
        return F.silu(self.gate(x)) * self.up(x)  # expect: swiglu recommend
