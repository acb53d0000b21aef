"""A method is replaced after the class."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Act(nn.Module):
    def forward(self, x):
        return F.silu(x)


def forward(self, x):
    return torch.relu(x)


Act.forward = forward


class Mlp(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.act = Act()
        self.w1, self.w2 = nn.Linear(d, d), nn.Linear(d, d)

    def forward(self, x):
        return self.act(self.w1(x)) * self.w2(x)  # clean: Act.forward was replaced by ReLU
