"""A forward with a backward of its own."""
import torch
import torch.nn.functional as F


class SwiGLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, gate, up):
        ctx.save_for_backward(gate, up)
        return F.silu(gate) * up  # expect: swiglu recommend|caution

    @staticmethod
    def backward(ctx, grad):
        gate, up = ctx.saved_tensors
        s = torch.sigmoid(gate)
        d_gate = grad * up * s * (1 + gate * (1 - s))  # allow: swiglu caution|reject
        return d_gate, grad * F.silu(gate)  # allow: swiglu caution|recommend
