"""The mean square by the length of the vector."""
import torch

EXPECT = {"rms_norm": 1}


def norm(x, w):
    h = x.float()
    mean = h.norm(2, dim=-1, keepdim=True) ** 2 / h.shape[-1]
    return (h / torch.sqrt(mean + 1e-6) * w).to(x.dtype)


def make():
    return norm


def inputs(dtype):
    return [(torch.randn(2, 3, 16).to(dtype), torch.linspace(0.5, 1.5, 16).to(dtype))]
