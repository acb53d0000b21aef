import torch

def window_attention(q, k, v, window):
    """window == -1 means unlimited. Query i of Sq lines up with key i + (Skv - Sq)."""
    sq, sk = q.shape[-2], k.shape[-2]
    i = torch.arange(sq)[:, None] + (sk - sq)
    j = torch.arange(sk)[None]
    ok = j <= i
    if window != -1:
        ok &= j > i - window
    s = (q @ k.mT) / q.shape[-1] ** 0.5  # expect: attention recommend
    return s.masked_fill(~ok, float("-inf")).softmax(-1) @ v
