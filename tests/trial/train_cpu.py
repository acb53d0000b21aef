"""Trains a small network on the CPU; most of a step is spent in one layer.

    python train_cpu.py --layer product   a matrix product, by broadcasting
    python train_cpu.py --layer gate      x * tanh(gate)

Prints one line a step. Runs repeat themselves.
"""
import argparse
import time

import torch
from torch import nn


class SumLinear(nn.Module):
    """x (n, k) to (n, m), without torch.matmul."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(inputs, outputs) / inputs**0.5)

    def forward(self, x):
        return (x.unsqueeze(-1) * self.weight).sum(dim=-2)


class TanhGate(nn.Module):
    """x (n, k) times the tanh of its scaled copy."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(inputs) / inputs**0.5)

    def forward(self, x):
        gate = x * self.weight
        return x * torch.tanh(gate)


LAYERS = {"product": SumLinear, "gate": TanhGate}
ROWS = {"product": 96, "gate": 1536}


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--layer", choices=sorted(LAYERS), default="product")
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def descend(parameters, gradients):
    """Plain SGD; the first step of torch.optim would import for a second."""
    with torch.no_grad():
        for parameter, gradient in zip(parameters, gradients):
            parameter -= 0.05 * gradient


def train(args):
    torch.set_num_threads(1)  # so that runs repeat themselves
    torch.manual_seed(args.seed)
    layer = LAYERS[args.layer](args.width, args.width)
    head = nn.Linear(args.width, 1)
    parameters = [*layer.parameters(), *head.parameters()]
    truth = torch.randn(args.width) / args.width**0.5
    for step in range(1, args.steps + 1):
        x = torch.randn(ROWS[args.layer], args.width)
        start = time.perf_counter()
        guess = head(layer(x)).squeeze(-1)
        loss = (guess - torch.mv(x, truth)).pow(2).mean()
        descend(parameters, torch.autograd.grad(loss, parameters))
        ms = (time.perf_counter() - start) * 1e3
        print(f"step {step} | loss {loss.item():.6f} | step_time_ms {ms:.2f}", flush=True)


if __name__ == "__main__":
    train(parse_args())
