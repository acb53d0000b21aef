"""torch's own rms_norm, with a weight, an epsilon, both and neither."""
import torch
import torch.nn.functional as F
from torch import nn

EXPECT = {"rms_norm": 3}
# Releases of torch differ in the dtype of the result there.
LEFT_ALONE = ("autocast-bf16-input", "npu-autocast-bf16-input", "npu-autocast-bf16")


def unit(x):
    return F.rms_norm(x, (x.size(-1),))


def unit_with_epsilon(x):
    return torch.rms_norm(x.float(), x.shape[-1:], eps=1e-3).to(x.dtype)


class Norms(nn.Module):
    def __init__(self, size, eps=1e-6):
        super().__init__()
        self.shape = (size,)
        self.eps = eps
        self.weight = nn.Parameter(torch.randn(size) * 0.2 + 1)

    def forward(self, x):
        # Small rows, where an epsilon is seen.
        x = x * 1e-3
        y = F.rms_norm(x, self.shape, self.weight.to(x.dtype), self.eps)
        return y + unit(x) + unit_with_epsilon(x)


def make():
    return Norms(32)


def inputs(dtype):
    return [(torch.randn(2, 5, 32).to(dtype),)]
