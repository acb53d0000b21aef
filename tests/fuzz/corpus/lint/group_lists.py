import torch
import torch.nn.functional as F
import torch_npu


def counts_as_sums(x, w, index):
    counts = torch.bincount(index, minlength=8)
    return torch_npu.npu_grouped_matmul(
        [x], [w], group_list=counts, split_item=2, group_type=0)[0]


def counts_by_one_hot(x, w, index):
    counts = F.one_hot(index, 8).sum(0).to(torch.int64)
    return torch_npu.npu_grouped_matmul(
        [x], [w], group_list=counts, split_item=2, group_type=0, group_list_type=0)[0]


def sums_as_counts(x, w, counts):
    return torch_npu.npu_grouped_matmul(
        [x], [w], group_list=counts.cumsum(0), split_item=2, group_type=0, group_list_type=1)[0]


def gmm(x, w, groups):
    return torch_npu.npu_grouped_matmul([x], [w], group_list=groups, split_item=2, group_type=0)[0]


def by_a_helper(x, w, index):
    return gmm(x, w, torch.histc(index, 8))


# ---- these are right ----

def counts(x, w, index):
    counts = torch.bincount(index, minlength=8)
    return torch_npu.npu_grouped_matmul(
        [x], [w], group_list=counts, split_item=2, group_type=0, group_list_type=1)[0]


def sums(x, w, index):
    counts = torch.bincount(index, minlength=8)
    return gmm(x, w, torch.cumsum(counts, 0)) + gmm(x, w, counts.cumsum(dim=0).npu())


def not_shown(x, w, tokens_per_expert, kind):
    a = gmm(x, w, tokens_per_expert)
    return a + torch_npu.npu_grouped_matmul(
        [x], [w], group_list=torch.bincount(tokens_per_expert), split_item=2, group_type=0,
        group_list_type=kind)[0]
