import torch

def run(x, choice, weight, w_in, w_out):
    y = torch.zeros_like(x)
    for e in range(w_in.shape[0]):  # expect: moe caution
        t, slot = torch.where(choice == e)
        if t.numel() == 0:
            continue                       # expert unused this step: grad stays None
        h = torch.nn.functional.silu(x[t] @ w_in[e])
        y.index_add_(0, t, (h @ w_out[e]) * weight[t, slot, None])
    return y
