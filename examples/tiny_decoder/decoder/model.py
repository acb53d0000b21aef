"""The decoder: embedding, layers, final norm, head tied to the embedding."""
from torch import nn
from torch.nn import functional as F

from .attention import Attention
from .mlp import GatedMLP
from .moe import SparseMoE
from .norm import RMSNorm
from .rotary import RotaryTable


class DecoderLayer(nn.Module):
    def __init__(self, config, index):
        super().__init__()
        self.input_norm = RMSNorm(config)
        self.attention = Attention(config)
        self.post_norm = RMSNorm(config)
        moe = config.is_moe_layer(index)
        self.mlp = SparseMoE(config) if moe else GatedMLP(config)

    def forward(self, x, cos, sin):
        x = x + self.attention(self.input_norm(x), cos, sin)
        return x + self.mlp(self.post_norm(x))


class Decoder(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(config.vocab_size, config.hidden_size)
        self.rotary = RotaryTable(config)
        self.layers = nn.ModuleList(
            DecoderLayer(config, i) for i in range(config.num_layers)
        )
        self.norm = RMSNorm(config)
        self.reset_parameters()

    def reset_parameters(self):
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.normal_(parameter, std=0.05)

    def forward(self, tokens, targets=None):
        """tokens: (batch, length). Returns logits, or the mean loss."""
        x = self.embedding(tokens)
        cos, sin = self.rotary(tokens.shape[1], x.dtype)
        for layer in self.layers:
            x = layer(x, cos, sin)
        logits = F.linear(self.norm(x), self.embedding.weight)
        if targets is None:
            return logits
        return F.cross_entropy(logits.flatten(0, 1).float(), targets.flatten())
