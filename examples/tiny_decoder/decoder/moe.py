"""A mixture of experts: each token goes to its best few."""
import torch
from torch import nn
from torch.nn import functional as F

from .mlp import ACTIVATIONS


class Router(nn.Module):
    """Picks experts for each token; their weights sum to one."""

    def __init__(self, config):
        super().__init__()
        self.top_k = config.experts_per_token
        self.proj = nn.Linear(config.hidden_size, config.num_experts, bias=False)

    def forward(self, tokens):
        probs = F.softmax(self.proj(tokens), dim=-1, dtype=torch.float32)
        weights, chosen = torch.topk(probs, self.top_k, dim=-1)
        weights = weights / weights.sum(dim=-1, keepdim=True)
        return weights.to(tokens.dtype), chosen


class SparseMoE(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.num_experts = config.num_experts
        hidden, size = config.hidden_size, config.expert_size
        self.router = Router(config)
        # The gate's rows come first, then the rows of the up projection.
        self.gate_up_proj = nn.Parameter(
            torch.empty(self.num_experts, 2 * size, hidden)
        )
        self.down_proj = nn.Parameter(
            torch.empty(self.num_experts, hidden, size)
        )
        self.act_fn = ACTIVATIONS[config.hidden_act]()

    def forward(self, hidden_states):
        batch, length, hidden = hidden_states.shape
        tokens = hidden_states.reshape(-1, hidden)
        weights, chosen = self.router(tokens)

        output = torch.zeros_like(tokens)
        for expert in range(self.num_experts):
            rows, slots = torch.where(chosen == expert)
            if rows.numel() == 0:
                continue
            packed = F.linear(tokens[rows], self.gate_up_proj[expert])
            gate, up = packed.chunk(2, dim=-1)
            current = F.linear(self.act_fn(gate) * up, self.down_proj[expert])
            current = current * weights[rows, slots, None]
            output.index_add_(0, rows, current.to(output.dtype))
        return output.reshape(batch, length, hidden)
