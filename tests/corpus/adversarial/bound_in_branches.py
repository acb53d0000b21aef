"""Names that branches of the module bind differently: each may be the one in force."""
import os

import torch
import torch.nn.functional as F

try:
    import fast_kernels
    FAST = True
except ImportError:
    FAST = False

if os.environ.get("PLAIN"):
    act = F.silu

    def scaled(x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)  # expect: rms_norm recommend
else:
    act = F.gelu

    def scaled(x):
        x = x - x.mean(-1, keepdim=True)
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)  # expect: rms_norm reject


def is_fast():
    return FAST


def by_function(x, w):
    return scaled(x) * w  # clean: a layer norm in one of the branches


def by_activation(x):
    gate, up = x.chunk(2, dim=-1)
    return act(gate) * up  # expect: swiglu caution


def by_flag(x, w):
    # FAST is neither true nor false for all that is seen.
    y = x - x.mean(-1, keepdim=True) if is_fast() else x
    return x * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-6) * w  # clean: of another tensor


def gate_by_flag(gate, up):
    gate = gate.clamp(max=1.0) if is_fast() else gate
    return F.silu(gate) * up  # expect: swiglu caution
