import torch

class Block(torch.nn.Module):
    def forward(self, q, k, v):
        s = (q @ k.transpose(-1, -2)) * 0.125
        s = s + torch.triu(torch.full((s.size(-2), s.size(-1)), float("-inf")), 1)
        return s.softmax(-1) @ v  # expect: attention caution

net = torch.compile(Block(), fullgraph=True)      # graph capture wanted
