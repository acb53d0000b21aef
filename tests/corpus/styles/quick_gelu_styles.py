"""CLIP's QuickGELU."""
import torch
import torch.nn as nn


class QuickGELU(nn.Module):
    def forward(self, x):
        return x * torch.sigmoid(1.702 * x)  # expect: quick_gelu recommend


def quick(x: torch.Tensor) -> torch.Tensor:
    return torch.sigmoid(x * 1.702) * x  # expect: quick_gelu recommend


def quick_method(x):
    return x.mul((x * 1.702).sigmoid())  # expect: quick_gelu recommend
