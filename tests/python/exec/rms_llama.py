"""Rounds the normalised value to the input's dtype, then multiplies."""
import torch
from torch import nn

EXPECT = {"rms_norm": 1}


class Norm(nn.Module):
    def __init__(self, size, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(size) * 0.2 + 1)
        self.variance_epsilon = eps

    def forward(self, hidden_states):
        input_dtype = hidden_states.dtype
        hidden_states = hidden_states.to(torch.float32)
        variance = hidden_states.pow(2).mean(-1, keepdim=True)
        hidden_states = hidden_states * torch.rsqrt(
            variance + self.variance_epsilon
        )
        return self.weight * hidden_states.to(input_dtype)


def make():
    return Norm(32)


def inputs(dtype):
    return [
        (torch.randn(2, 5, 32).to(dtype),),
        (torch.randn(7, 32).to(dtype) * 1e-2,),  # eps matters
        (torch.randn(5, 2, 32).to(dtype).transpose(0, 1),),
        (torch.randn(2, 0, 32).to(dtype),),
    ]


def excluded(dtype):
    return [(torch.randn(32).to(dtype),)]  # one axis: outside the limits
