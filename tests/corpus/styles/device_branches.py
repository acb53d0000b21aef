"""What a device that is no NPU needs is no part of what runs on one."""
import torch
import torch.nn.functional as F
from torch import nn


class Gate(nn.Module):
    def __init__(self, width, inner):
        super().__init__()
        self.both = nn.Linear(width, inner * 2)

    def activate(self, gate):
        if gate.device.type != "mps":
            return F.gelu(gate)
        return F.gelu(gate.to(dtype=torch.float32)).to(dtype=gate.dtype)

    def forward(self, x):
        x, gate = self.both(x).chunk(2, dim=-1)
        return x * self.activate(gate)  # expect: geglu recommend


def squares(x):
    if x.device.type == "mps":
        squared = torch.linalg.vector_norm(x, dim=-1, keepdim=True) ** 2 / x.shape[-1]
    else:
        squared = x.pow(2).mean(-1, keepdim=True)
    return squared


def norm(x, weight):
    return x * torch.rsqrt(squares(x) + 1e-6) * weight  # expect: rms_norm recommend|caution


def softmax_by_device(q, k, v):
    scores = torch.matmul(q, k.transpose(-1, -2)) * 0.125
    if scores.device.type in ("cpu", "mps") and scores.shape[-1] > 4096:
        weights = torch.cat([s.softmax(-1) for s in scores.split(1024, dim=-2)], dim=-2)
    else:
        weights = scores.softmax(-1)
    return torch.matmul(weights, v)  # expect: attention recommend|caution
