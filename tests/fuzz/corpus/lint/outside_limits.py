import torch
import torch_npu


def heads(q, k, v):
    return torch_npu.npu_fusion_attention(q, k, v, 512, "BNSD", scale=0.125)[0]


def layout(q, k, v):
    return torch_npu.npu_fusion_attention(q, k, v, 8, "BHSD", scale=0.125)[0]


def dropped(q, k, v):
    return torch_npu.npu_fusion_attention(q, k, v, 8, "BNSD", scale=0.125, keep_prob=0.0)[0]


def mode_of_packed(q, k, v, m):
    return torch_npu.npu_fusion_attention(
        q, k, v, 8, "BNSD", scale=0.125, atten_mask=m, sparse_mode=7)[0]


def packed_without_lengths(q, k, v):
    return torch_npu.npu_fusion_attention(q, k, v, 8, "TND", scale=0.125)[0]


def axes(x, k, v):
    q = x.view(2, 8, 16, 64)
    return torch_npu.npu_fusion_attention(q, k, v, 8, "BSH", scale=0.125)[0]


def wide(x, k, v):
    q = x.view(2, 8, 16, 1024)
    return torch_npu.npu_fusion_attention(q, k, v, 8, "BNSD", scale=0.125)[0]


def dtypes(q, k, v):
    return torch_npu.npu_fusion_attention(
        q.float(), k.half(), v.half(), 8, "BNSD", scale=0.125)[0]


def fused(q, k, v, layout, heads):
    return torch_npu.npu_fusion_attention(q, k, v, heads, layout, scale=0.125)[0]


def by_a_helper(q, k, v):
    return fused(q, k, v, "BNSD", 300)


# ---- these are right ----

def lower_case(q, k, v):
    return torch_npu.npu_fusion_attention(q, k, v, 8, "bnsd", scale=0.125)[0]


def by_the_name(q, k, v, layout, prob, mode):
    return torch_npu.npu_fusion_attention(
        q, k, v, q.shape[1], layout, scale=0.125, keep_prob=1 - prob, sparse_mode=mode)[0]


def empty_list(x, w, ends):
    return torch_npu.npu_grouped_matmul(
        [x], [w], offset=[], antiquant_scale=[], group_list=ends, split_item=2, group_type=0)[0]


def open_call(q, k, v, options):
    return torch_npu.npu_fusion_attention(q, k, v, 8, "TND", scale=0.125, **options)[0]


def shapes(x, k, v, b, s):
    q = x.view(b, s, -1)
    return torch_npu.npu_fusion_attention(q, k, v, 8, "BSH", scale=0.125)[0]


def transposed(x, k, v):
    q = x.view(2, 16, 8, 64).transpose(1, 2)
    return torch_npu.npu_fusion_attention(q, k, v, 8, "BNSD", scale=0.125)[0]


def one_dtype(q, k, v):
    return torch_npu.npu_fusion_attention(
        q.half(), k.half(), v.half(), 8, "BNSD", scale=0.125)[0]
