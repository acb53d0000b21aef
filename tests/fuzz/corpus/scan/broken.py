import torch
def f(x:
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6
def g(x):
    h = x / (x.square().mean(dim=-1, keepdim=True) + 1e-5).sqrt()
    return h \
