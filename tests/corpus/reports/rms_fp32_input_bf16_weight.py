import torch

class Norm(torch.nn.Module):
    def __init__(self, n, eps=1e-5):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(n, dtype=torch.bfloat16))
        self.variance_epsilon = eps

    def forward(self, h):                     # h may be float32 (residual kept in fp32)
        kind = h.dtype
        h = h.float()  # expect: rms_norm recommend
        h = h * torch.rsqrt(h.square().mean(-1, keepdim=True) + self.variance_epsilon)
        return self.weight * h.to(kind)       # promotes: fp32 * bf16 -> fp32
