"""Properties and dynamic attributes."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class ActProperty(nn.Module):
    kind = "relu"

    @property
    def act(self):
        return F.relu if self.kind == "relu" else F.silu

    def forward(self, gate, up):
        return self.act(gate) * up  # clean: ReLU as the class stands


class EpsProperty(nn.Module):
    @property
    def eps(self):
        return self.log_eps.exp()

    def forward(self, x, w):
        return w * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)  # clean: a tensor is added


class Getattr(nn.Module):
    def __getattr__(self, name):
        return torch.tanh

    def forward(self, gate, up):
        return self.silu(gate) * up  # clean: any attribute is tanh


class WeightProperty(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.raw = nn.Parameter(torch.zeros(dim))

    @property
    def weight(self):
        return self.raw.exp()

    def forward(self, x):
        return self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6))  # expect: rms_norm recommend|caution
