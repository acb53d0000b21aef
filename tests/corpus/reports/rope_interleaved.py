import torch

def rotate_pairs(x):
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack((-odd, even), dim=-1).flatten(-2)

def apply(x, cos, sin):
    return x * cos + rotate_pairs(x) * sin  # expect: rope recommend

def apply_complex(x, freqs):
    z = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))  # expect: rope recommend
    return torch.view_as_real(z * freqs).flatten(-2).type_as(x)
