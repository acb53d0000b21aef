"""The project's switch is an option of its command line."""
import argparse

import torch
from torch import nn

EXPECT = {"rms_norm": 2}

_ARGS = None


def parse_args(words):
    parser = argparse.ArgumentParser()
    parser.add_argument("--head-dim", type=int, default=16)
    parser.add_argument("--norm-epsilon", type=float, default=1e-6)
    parser.add_argument("--no-fused-rmsnorm", action="store_true")
    return parser.parse_args(words)


def set_args(args):
    global _ARGS
    _ARGS = args


def get_args():
    return _ARGS


class Norm(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.args = args
        self.weight = nn.Parameter(torch.rand(args.head_dim) + 0.5)

    def forward(self, x):
        h = x.float()
        h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-6)
        return self.weight * h.to(x.dtype)


class HeadNorm(nn.Module):
    def __init__(self, head_dim):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(head_dim) + 0.5)

    def forward(self, x):
        args = get_args()
        h = x.float()
        scale = torch.rsqrt(h.square().mean(-1, keepdim=True) + args.norm_epsilon)
        return (h * scale * self.weight).type_as(x)


def make():
    args = parse_args(["--no-fused-rmsnorm"])
    set_args(args)
    return nn.Sequential(Norm(args), HeadNorm(args.head_dim))


def enable(made):
    """Turns the project's own switch on."""
    made[0].args.no_fused_rmsnorm = False


def inputs(dtype):
    return [(torch.randn(2, 3, 4, 16).to(dtype),)]
