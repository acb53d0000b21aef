"""The statistic carries no gradient: the forward agrees, the backward does not."""
import torch


def detached(x, w, eps=1e-6):
    var = x.detach().pow(2).mean(-1, keepdim=True)
    return w * x * torch.rsqrt(var + eps)  # clean: detached


def detached_late(x, w, eps=1e-6):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps).detach()
    return w * x * scale  # clean: detached


def without_grad(x, w, eps=1e-6):
    with torch.no_grad():
        scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)
    return w * x * scale  # clean: no_grad around the statistic


def without_grad_mean(x, w, eps=1e-6):
    with torch.no_grad():
        var = x.pow(2).mean(-1, keepdim=True)
    return w * x * torch.rsqrt(var + eps)  # clean: no_grad around the mean


def data_only(x, w, eps=1e-6):
    var = x.data.pow(2).mean(-1, keepdim=True)
    return w * x * torch.rsqrt(var + eps)  # clean: .data has no gradient


@torch.no_grad()
def scale_of(x, eps):
    return torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)


def by_helper(x, w, eps=1e-6):
    return w * x * scale_of(x, eps)  # clean: the helper runs without gradients


def silu_detached(gate, up):
    return torch.nn.functional.silu(gate.detach()) * up  # expect: swiglu caution|recommend


def silu_half_detached(gate, up):
    return gate.detach() * torch.sigmoid(gate) * up  # clean: gate's own factor has no gradient


def grad_mode(x, w, eps=1e-6):
    with torch.set_grad_enabled(False):
        scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)
    return w * x * scale  # clean: gradients are off


def all_without_grad(x, w, eps=1e-6):
    with torch.no_grad():
        return w * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps))  # expect: rms_norm recommend|caution
