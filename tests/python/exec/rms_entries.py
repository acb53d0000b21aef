"""Entries of a tuple and of a dictionary have dtypes of their own."""
import torch
from torch import nn

EXPECT = {"rms_norm": 2}


class Norms(nn.Module):
    def of_pair(self, pair):
        x, like = pair
        h = x.float()
        h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-6)
        return h.to(like.dtype)

    def of_state(self, state):
        x = state["x"]
        like = state["like"]
        h = x.float()
        h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-6)
        return h.to(like.dtype)

    def forward(self, x, like):
        return self.of_pair((x, like)), self.of_state({"x": x, "like": like})


def make():
    return Norms()


def inputs(dtype):
    x = torch.randn(2, 3, 16).to(dtype)
    return [(x, torch.randn(4)), (x, torch.randn(4).to(dtype)),
            (x, torch.randn(4, dtype=torch.bfloat16))]
