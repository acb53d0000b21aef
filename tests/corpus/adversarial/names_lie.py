"""Names that promise something else."""
import torch
import torch.nn as nn
import torch.nn.functional as F


def silu(x):
    return torch.relu(x)


def rms_norm(x, w, eps=1e-5):
    return F.layer_norm(x, x.shape[-1:], w, None, eps)


class RMSNorm(nn.LayerNorm):
    pass


class SwiGLU(nn.Module):
    def forward(self, gate, up):
        return silu(gate) * up  # clean: the file's own silu is ReLU


class LlamaRMSNorm(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))
        self.variance_epsilon = 1e-6

    def forward(self, x):
        variance = x.to(torch.float32).pow(2).mean(-1, keepdim=True)
        return self.weight * (x - variance)  # clean: nothing is normalised


class SiLU(nn.Module):
    def forward(self, x):
        return torch.tanh(x)


class OwnSiLU(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.act = SiLU()
        self.w1, self.w2 = nn.Linear(d, d), nn.Linear(d, d)

    def forward(self, x):
        return self.act(self.w1(x)) * self.w2(x)  # clean: the file's SiLU is tanh


def local_silu(gate, up):
    def silu(x):
        return x.clamp(min=0)

    return silu(gate) * up  # clean: the nearest silu is a clamp


def local_f(gate, up):
    class F:
        silu = staticmethod(torch.tanh)

    return F.silu(gate) * up  # clean: F is a class here


def parameter_named_silu(gate, up, silu):
    return silu(gate) * up  # clean: silu is whatever the caller gives


def hidden_ffn(x, a, b):
    return (x @ a).clamp(min=0).mul(x @ b)  # clean: ReGLU


class Honest(nn.Module):
    """Its name says LayerNorm; it is an RMS norm."""

    def __init__(self, dim):
        super().__init__()
        self.bias = nn.Parameter(torch.ones(dim))

    def forward(self, mean):
        var = mean.pow(2).mean(-1, keepdim=True)
        return self.bias * (mean * torch.rsqrt(var + 1e-5))  # expect: rms_norm recommend
