"""Inner values that leave the function."""
import torch
import torch.nn.functional as F


def with_scale(x, w, eps=1e-6):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)
    return w * (x * scale), scale  # expect: rms_norm caution|recommend


class Keeps(torch.nn.Module):
    def forward(self, gate, up):
        self.last = F.silu(gate)
        return self.last * up  # expect: swiglu caution|recommend


class Saved(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w, eps):
        scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)
        ctx.save_for_backward(x, w, scale)
        return w * (x * scale)  # expect: rms_norm caution|recommend

    @staticmethod
    def backward(ctx, grad):
        x, w, scale = ctx.saved_tensors
        return grad * w * scale, None, None


def hooked(gate, up, log):
    h = F.silu(gate)
    log(h)
    return h * up  # expect: swiglu caution|recommend


def weights_returned(gate, up):
    h = F.silu(gate)
    return h * up, h  # expect: swiglu caution|recommend
