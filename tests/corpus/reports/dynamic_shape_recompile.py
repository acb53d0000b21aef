import torch

def batches(loader, tok):
    for texts in loader:
        yield tok(texts, padding="longest", return_tensors="pt")   # length changes each step

def pick(x, mask):
    x = x[mask]                     # data dependent row count
    n = int(mask.sum().item())      # host sync
    return torch.nn.functional.silu(x[:n]) * x[:n]  # expect: swiglu reject
