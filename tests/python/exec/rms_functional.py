"""A function; the square by multiplication, the root by division."""
import torch

EXPECT = {"rms_norm": 1}


def rms_norm(x, weight, eps: float = 1e-6):
    h = x.to(torch.float32)
    h = h / torch.sqrt((h * h).mean(dim=-1, keepdim=True) + eps)
    return h.to(x.dtype) * weight


def make():
    return rms_norm


def inputs(dtype):
    x, weight = torch.randn(2, 3, 16), torch.rand(16) + 0.5
    return [
        (x.to(dtype), weight.to(dtype)),
        (x.to(dtype), weight.to(dtype), 1e-2),
        (x.to(dtype), weight),  # a float32 weight: the result is promoted
    ]


def excluded(dtype):
    # A weight of two axes is a product, not a second normalised axis.
    return [(torch.randn(2, 3, 16).to(dtype), torch.rand(3, 16).to(dtype))]
