import torch

class PlainAttention(torch.nn.Module):
    """keep is bool, True = this key may be looked at (PyTorch SDPA meaning)."""
    def __init__(self, dim, heads):
        super().__init__()
        self.h, self.d = heads, dim // heads
        self.qkv = torch.nn.Linear(dim, 3 * dim)

    def forward(self, x, keep):
        b, s, _ = x.shape
        q, k, v = self.qkv(x).view(b, s, 3, self.h, self.d).permute(2, 0, 3, 1, 4)
        score = q @ k.transpose(-2, -1) * self.d ** -0.5  # expect: attention recommend
        score = score.masked_fill(~keep[:, None], float("-inf"))
        return (score.softmax(-1) @ v).transpose(1, 2).reshape(b, s, -1)
