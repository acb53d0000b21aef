"""The last axis by its number, where the source says how many there are."""
import torch


def unpacked(x, weight):
    batch, length, width = x.shape
    return x * torch.rsqrt(x.pow(2).mean(2, keepdim=True) + 1e-6) * weight  # expect: rms_norm recommend


def asserted(x, weight):
    assert x.dim() == 3
    return x * torch.rsqrt(x.pow(2).mean(2, keepdim=True) + 1e-6) * weight  # expect: rms_norm recommend


def asserted_with_words(x, weight):
    assert x.ndim == 4, "four axes"
    mean = torch.mean(x.float() ** 2, dim=3, keepdim=True)
    return (x.float() * torch.rsqrt(mean + 1e-6)).type_as(x) * weight  # expect: rms_norm recommend


def cast_if_told(x, alpha, dtype, eps: float):
    assert x.dim() == 3, f"three axes, not {x.shape}"
    given = x.dtype
    if dtype is not None:
        x = x.to(dtype)
    mean = eps + torch.mean(x**2, dim=2, keepdim=True)
    return (x * (alpha.to(mean) * torch.rsqrt(mean))).to(given)  # expect: rms_norm recommend|caution
