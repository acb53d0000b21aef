import torch

class OptionalScaleNorm(torch.nn.Module):
    def __init__(self, dim, eps=1e-6, elementwise_affine=True):
        super().__init__()
        self.eps = eps
        self.weight = torch.nn.Parameter(torch.ones(dim)) if elementwise_affine else None

    def forward(self, x):
        v = x.to(torch.float32).pow(2).mean(-1, keepdim=True)  # expect: rms_norm recommend
        x = x * torch.rsqrt(v + self.eps)
        if self.weight is not None:
            x = x.to(self.weight.dtype) * self.weight
        return x
