"""Runs of rows that no sort has ordered, in neither branch."""
import torch
import torch.nn as nn


class Unsorted(nn.Module):
    def __init__(self, heads, flag):
        super().__init__()
        self.heads = nn.ModuleList(heads)
        self.flag = flag

    def forward(self, x, order, sizes):
        rows = x[order]
        if self.flag:
            rows = x
        results = []
        start = 0
        for i, n in enumerate(sizes):
            results.append(self.heads[i](rows[start:start + n]))  # clean: no order of a sort
            start = start + n
        return torch.cat(results, dim=0)
