import torch

def flip(x):
    h = x.shape[-1] // 2
    return torch.cat([-x[..., h:], x[..., :h]], dim=-1)

class VisionRope(torch.nn.Module):
    HEAD_DIM = 72                      # 72 * 2 bytes = 144 bytes, not a multiple of 32
    def forward(self, q, k, cos, sin): # q, k: (B, N, S, D)
        c, s = cos.unsqueeze(1), sin.unsqueeze(1)
        return q * c + flip(q) * s, k * c + flip(k) * s  # expect: rope recommend
