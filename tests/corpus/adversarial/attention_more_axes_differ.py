"""Products of five axes that are no attention along one of them."""
import torch


def over_a_batch(q, k, v):
    w = torch.einsum("rcnhd,scnhd->hcnrs", q, k).softmax(dim=1)
    return torch.einsum("hcnrs,scnhd->rcnhd", w, v)


def over_queries(q, k, v):
    w = torch.einsum("rcnhd,scnhd->hcnrs", q, k).softmax(dim=-2)
    return torch.einsum("hcnrs,scnhd->rcnhd", w, v)


def summed_heads(q, k, v):
    w = torch.einsum("rcnhd,scnhd->hcnrs", q, k).softmax(-1)
    return torch.einsum("hcnrs,scnhd->rcnd", w, v)


def other_values(q, k, v):
    w = torch.einsum("rcnhd,scnhd->hcnrs", q, k).softmax(-1)
    return torch.einsum("hcnrs,rcnhd->scnhd", w, v)


def values_over_groups(q, k, v):
    w = torch.softmax(torch.einsum("bgnid,bnjd->bgnij", q, k), dim=-1)
    return torch.einsum("bgnij,bnjd->bnid", w, v)  # clean: the groups are summed


def queries_over_groups(q, k, v):
    w = torch.softmax(torch.einsum("bgnid,bnjd->bnij", q, k), dim=-1)
    return torch.einsum("bnij,bnjd->bnid", w, v)  # clean: the queries of the groups are summed


def over_groups(q, k, v):
    w = torch.softmax(torch.einsum("bgnid,bnjd->bgnij", q, k), dim=1)
    return torch.einsum("bgnij,bnjd->bgnid", w, v)  # clean: the softmax is over the groups
