import torch
import torch.nn as nn


class Gate(nn.Module):
    def forward(self, x, y):
        return torch.sigmoid(x) * torch.tanh(y)
