"""Strings that decide something else, and kinds that are no string."""
import torch.nn.functional as F
from torch import nn


class Scaled(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.kind = config.kind

    def forward(self, gate, up):
        return F.gelu(gate, approximate=self.kind) + up  # clean: a sum

    def leaky(self, gate, up):
        return F.leaky_relu(gate, self.kind) * up  # clean: another activation

    def both(self, gate):
        return F.gelu(gate, approximate=self.kind) * gate.detach().mean(-1)  # clean: no gate and up

    def wrong(self, gate, up):
        return F.gelu(gate, approximate="sigmoid") * up  # clean: no kind of GELU
