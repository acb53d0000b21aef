"""Root mean square normalisation: of the hidden states, and of each head."""
import torch
from torch import nn
from torch.nn import functional as F


class RMSNorm(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(config.hidden_size))
        self.eps = config.rms_norm_eps
        self.use_fused_rmsnorm = config.use_fused_rmsnorm

    def forward(self, hidden_states):
        if self.use_fused_rmsnorm and hasattr(F, "rms_norm"):
            return F.rms_norm(
                hidden_states, self.weight.shape, self.weight, self.eps
            )
        input_dtype = hidden_states.dtype
        hidden_states = hidden_states.to(torch.float32)
        variance = hidden_states.pow(2).mean(-1, keepdim=True)
        hidden_states = hidden_states * torch.rsqrt(variance + self.eps)
        return self.weight * hidden_states.to(input_dtype)


class HeadRMSNorm(nn.Module):
    """Normalises each query and key head over head_dim."""

    def __init__(self, config):
        super().__init__()
        self.config = config
        self.weight = nn.Parameter(torch.ones(config.head_dim))

    def forward(self, x):
        # x: (batch, length, heads, head_dim)
        h = x.float()
        scale = torch.rsqrt(
            h.square().mean(dim=-1, keepdim=True) + self.config.rms_norm_eps
        )
        return (h * scale * self.weight).type_as(x)
