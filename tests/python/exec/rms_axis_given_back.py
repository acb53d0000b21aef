"""The mean loses its axis and gets it back; the axis is counted from the rank."""
import torch

EXPECT = {"rms_norm": 1}


def norm(x, w):
    h = x.float()
    mean = h.square().mean(x.dim() - 1)[..., None]
    return (h * torch.rsqrt(mean + 1e-6) * w).to(x.dtype)


def make():
    return norm


def inputs(dtype):
    return [(torch.randn(2, 3, 16).to(dtype), torch.linspace(0.5, 1.5, 16).to(dtype))]
