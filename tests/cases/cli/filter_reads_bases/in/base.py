from torch import nn


class Layer(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.after = nn.LayerNorm(size)
        self.work = nn.Linear(size, size)
