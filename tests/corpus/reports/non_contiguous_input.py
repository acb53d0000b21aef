import torch
import torch.nn.functional as F

class Fused(torch.nn.Module):
    def __init__(self, d, m):
        super().__init__()
        self.p = torch.nn.Linear(d, 4 * m)

    def forward(self, x):
        y = self.p(x).transpose(0, 1)          # (S, B, 4m) view
        y = y[..., : y.shape[-1] // 2]         # strided slice, still a view
        g, u = y.chunk(2, -1)  # expect: swiglu recommend
        return F.silu(g) * u
