import torch
import torch.nn.functional as F
import torch_npu


def rope_in_float32(x, wq, wk, wv, cos, sin):
    q, k, v = F.linear(x, wq), F.linear(x, wk), F.linear(x, wv)
    q = q * cos.float()
    k = k * cos.float()
    return torch_npu.npu_fusion_attention(q, k, v, 8, "BNSD", scale=0.125)[0]


def query_in_float32(q, k, v):
    return torch_npu.npu_fusion_attention(q.float(), k.bfloat16(), v, 8, "BNSD", scale=0.125)[0]


# ---- these are right ----

def cast_back(x, wq, wk, wv, cos, sin):
    q, k, v = F.linear(x, wq), F.linear(x, wk), F.linear(x, wv)
    q = (q * cos.float()).to(v.dtype)
    k = (k * cos.float()).type_as(v)
    return torch_npu.npu_fusion_attention(q, k, v, 8, "BNSD", scale=0.125)[0]


def all_in_float32(q, k, v):
    return torch_npu.npu_fusion_attention(
        q.float(), k.float(), v.float(), 8, "BNSD", scale=0.125)[0]


def all_projected(x, wq, wk, wv):
    return torch_npu.npu_fusion_attention(
        F.linear(x, wq), F.linear(x, wk), F.linear(x, wv), 8, "BNSD", scale=0.125)[0]


def not_shown(q, k, v):
    return torch_npu.npu_fusion_attention(q.float(), k, v, 8, "BNSD", scale=0.125)[0]
