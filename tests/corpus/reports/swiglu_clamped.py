import torch

def gated(x, limit=7.0, alpha=1.702):
    g, u = x[..., ::2], x[..., 1::2]  # expect: clipped_swiglu recommend
    g = g.clamp(max=limit)
    u = u.clamp(-limit, limit)
    return (u + 1) * (g * torch.sigmoid(alpha * g))

def gated_ds(x, limit):
    g, u = x.chunk(2, -1)
    if limit > 0:
        g, u = g.clamp(max=limit), u.clamp(-limit, limit)
    return torch.nn.functional.silu(g) * u  # expect: swiglu caution
