"""Optimizers of parameters that are sharded."""
import torch
from torch.distributed.fsdp import fully_shard


def prepare(model):
    for layer in model.layers:
        fully_shard(layer)
    fully_shard(model)
    return torch.optim.AdamW(model.parameters(), lr=1e-3)  # expect: fused_optimizer reject
