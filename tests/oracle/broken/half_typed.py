import torch


class Model(torch.nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(dim)
        self.eps = 1e-6

    def forward(self, x):
        variance = x.pow(2).mean(-1, keepdim=True)
        x = x * torch.rsqrt(variance + self.
        return self.weight * x

    def extra(self, x):
        y = x.
        if y and
            return y
        z = [a for a in
        return z +


def after(x):
    return x
