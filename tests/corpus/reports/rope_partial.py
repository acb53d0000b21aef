import torch

def turn(x):
    a, b = x.chunk(2, -1)
    return torch.cat((-b, a), -1)

def rotate_some(q, k, cos, sin):
    r = cos.shape[-1]                 # 64 while head_dim is 128
    q1, q2 = q[..., :r], q[..., r:]
    k1, k2 = k[..., :r], k[..., r:]
    q1 = q1 * cos + turn(q1) * sin  # expect: rope recommend
    k1 = k1 * cos + turn(k1) * sin  # expect: rope recommend
    return torch.cat((q1, q2), -1), torch.cat((k1, k2), -1)
