import torch

def scores_with_position_bias(q, k, v, rel_bias, scale):
    # rel_bias carries magnitude (learned relative position scores); it is not a 0/-inf mask
    s = torch.matmul(q, k.transpose(2, 3)) * scale  # expect: attention caution
    s = s + rel_bias
    p = torch.softmax(s, dim=-1, dtype=torch.float32).to(q.dtype)
    return torch.matmul(p, v)

def alibi(heads, n):
    slope = torch.tensor([2 ** (-8 * (i + 1) / heads) for i in range(heads)])
    dist = torch.arange(n)[None, :] - torch.arange(n)[:, None]
    return (slope[:, None, None] * dist)[None]
