"""Experts of several devices: tokens come from the others and are sorted again."""
import torch
import torch.distributed as dist
import torch.nn as nn


class Spread(nn.Module):
    def __init__(self, experts, size, first):
        super().__init__()
        self.experts = nn.ModuleList(experts)
        self.size = size
        self.first = first

    def infer(self, x, ids, weight):
        count = ids.new_zeros((ids.shape[0], len(self.experts)))
        count.scatter_(1, ids, 1)
        per_expert = count.sum(dim=0)
        order = ids.view(-1).argsort()
        rows = x[order // ids.shape[1]]
        if self.size > 1:
            others = per_expert.new_empty(per_expert.shape[0])
            dist.all_to_all_single(others, per_expert)
            got = rows.new_empty(int(others.sum()), rows.shape[1])
            dist.all_to_all_single(got, rows)
            again = torch.repeat_interleave(others).argsort()
            rows = got[again]
            per_expert = others
        per_expert = per_expert.cpu().numpy()
        results = []
        start = 0
        for i, n in enumerate(per_expert):  # expect: moe caution
            end = start + n
            if n == 0:
                continue
            expert = self.experts[i + self.first]
            results.append(expert(rows[start:end]))
            start = end
        results = torch.cat(results, dim=0)
        new = torch.empty_like(results)
        new[order] = results
        return (new.view(*ids.shape, -1) * weight.unsqueeze(dim=-1)).sum(dim=1)
