import torch

class Codec(torch.nn.Module):
    def __init__(self, d):
        super().__init__()
        self.n = torch.nn.LayerNorm(d, dtype=torch.bfloat16)

    def forward(self, x):                                   # x is float32 here
        kind = x.device.type
        with torch.autocast(kind, dtype=torch.bfloat16, enabled=kind == "cuda"):
            return self.n(x)

def norm(x, w):
    with torch.autocast("npu", enabled=False):
        return x * torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + 1e-6) * w  # expect: rms_norm recommend
