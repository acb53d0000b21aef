"""Post-norm, as in BERT: the layer norm of a sum."""
import torch
from torch import nn

EXPECT = {"add_layer_norm": 1}


class Output(nn.Module):
    def __init__(self):
        super().__init__()
        self.last = nn.LayerNorm(16, eps=1e-12)

    def forward(self, hidden, shortcut):
        return self.last(hidden + shortcut).float()


def make():
    torch.manual_seed(3)
    made = Output()
    for parameter in made.parameters():
        nn.init.normal_(parameter, 1.0, 0.3)
    return made


def inputs(dtype):
    return [
        (torch.randn(2, 8, 16).to(dtype), torch.randn(2, 8, 16).to(dtype)),
        (torch.randn(3, 16).to(dtype), torch.randn(3, 16).to(dtype)),
    ]


def excluded(dtype):
    """Sums that broadcast."""
    return [(torch.randn(2, 8, 16).to(dtype), torch.randn(8, 16).to(dtype))]
