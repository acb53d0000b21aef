import torch

class GemmaLikeNorm(torch.nn.Module):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.weight = torch.nn.Parameter(torch.zeros(dim))

    def _n(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)

    def forward(self, x):
        y = self._n(x.float())  # expect: rms_norm recommend  # expect: gemma_rms_norm caution
        y = y * (1.0 + self.weight.float())
        return y.type_as(x)
