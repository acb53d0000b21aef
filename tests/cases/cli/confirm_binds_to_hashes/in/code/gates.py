import torch


def first(x: torch.Tensor, gate: torch.Tensor) -> torch.Tensor:
    return x * torch.tanh(gate)


def second(values: torch.Tensor, gate: torch.Tensor) -> torch.Tensor:
    return torch.tanh(gate) * values
