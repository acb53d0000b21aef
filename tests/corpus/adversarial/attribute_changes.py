"""The tensor is an attribute that changes in between."""
import torch
import torch.nn as nn


class Buffered(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))
        self.eps = 1e-6

    def changed(self, x):
        self.h = x
        scale = torch.rsqrt(self.h.pow(2).mean(-1, keepdim=True) + self.eps)
        self.h.add_(1)
        return self.h * scale  # clean: self.h changed in place

    def rebound(self, x):
        scale = torch.rsqrt(self.state.pow(2).mean(-1, keepdim=True) + self.eps)
        self.state = x
        return self.state * scale  # clean: self.state is another tensor

    def step(self):
        self.state = self.state * 2

    def rebound_by_method(self, x):
        scale = torch.rsqrt(self.state.pow(2).mean(-1, keepdim=True) + self.eps)
        self.step()
        return self.state * scale  # clean: step() binds another tensor

    def rebound_by_setattr(self, x):
        scale = torch.rsqrt(self.state.pow(2).mean(-1, keepdim=True) + self.eps)
        setattr(self, "state", x)
        return self.state * scale  # clean: setattr binds another tensor

    def kept(self, x):
        scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)  # expect: rms_norm recommend|caution
        self.calls = 1
        return x * scale * self.weight
