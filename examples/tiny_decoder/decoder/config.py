"""The shape of the model; train.py fills it from the command line."""
from dataclasses import dataclass


@dataclass
class ModelConfig:
    vocab_size: int = 64
    hidden_size: int = 64
    intermediate_size: int = 160
    num_layers: int = 2
    num_heads: int = 4
    num_kv_heads: int = 2
    max_positions: int = 256
    rope_theta: float = 10000.0
    rms_norm_eps: float = 1e-6
    hidden_act: str = "silu"
    # Every `moe_every`-th layer has experts instead of one MLP.
    moe_every: int = 2
    num_experts: int = 4
    experts_per_token: int = 2
    expert_size: int = 64
    # Normalise with PyTorch's own kernel where there is one.
    use_fused_rmsnorm: bool = False

    def __post_init__(self):
        if self.hidden_size % self.num_heads:
            raise ValueError("hidden_size must be a multiple of num_heads")
        if self.num_heads % self.num_kv_heads:
            raise ValueError("num_heads must be a multiple of num_kv_heads")
        if self.head_dim % 2:
            raise ValueError("the head dimension must be even")
        if self.experts_per_token > self.num_experts:
            raise ValueError("experts_per_token exceeds num_experts")

    @property
    def head_dim(self):
        return self.hidden_size // self.num_heads

    def is_moe_layer(self, index):
        return self.moe_every > 0 and (index + 1) % self.moe_every == 0
