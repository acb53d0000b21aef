"""torch's own rms_norm with a weight around zero, to which one is added."""
import torch
import torch.nn.functional as F
from torch import nn

EXPECT = {"rms_norm": 1}
# A weight of another dtype than the input's.
LEFT_ALONE = ("bf16-input", "bf16-weight", "autocast-bf16-input", "npu-autocast-bf16-input",
              "npu-autocast-bf16")


class Norm(nn.Module):
    def __init__(self, size, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.scale = nn.Parameter(0.2 * torch.randn(size))

    def forward(self, x):
        wide = x.float()
        y = F.rms_norm(wide, self.scale.shape, eps=self.eps, weight=self.scale.float() + 1.0)
        return y.to(x.dtype)


def make():
    return Norm(32)


def inputs(dtype):
    return [(torch.randn(2, 5, 32).to(dtype),)]
