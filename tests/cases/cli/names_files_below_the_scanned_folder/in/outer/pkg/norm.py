"""Named by its path below the scanned folder, whoever reads it first."""
import torch


def inverse_rms(x):
    return torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)


def norm(x, w):
    return w * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6))
