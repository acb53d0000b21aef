"""torch's own RMSNorm with a weight and an epsilon that may be None."""
import torch
import torch.nn.functional as F
from torch import nn

EXPECT = {"rms_norm": 2}
# Another dtype of weight, or autocast.
LEFT_ALONE = (
    "bf16-input", "bf16-weight", "autocast-bf16-input", "npu-autocast-bf16-input",
    "npu-autocast-bf16",
)


class OptionalNorm(nn.Module):
    def __init__(self, width, affine=True, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(1 + 0.1 * torch.randn(width)) if affine else None

    def forward(self, x):
        return F.rms_norm(x, x.shape[-1:], self.weight, self.eps)


def norm(x, weight=None, eps=1e-6):
    return F.rms_norm(x, x.shape[-1:], weight, eps)


class Stack(nn.Module):
    def __init__(self):
        super().__init__()
        self.one = OptionalNorm(16)
        self.two = OptionalNorm(16, affine=False)
        self.three = OptionalNorm(16, eps=None)

    def forward(self, x):
        return norm(self.one(x)) + norm(self.two(x), self.one.weight) + self.three(x)


def make():
    return Stack()


def inputs(dtype):
    return [(torch.randn(2, 3, 16).to(dtype),)]
