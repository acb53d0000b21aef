import torch
import torch.nn.functional as F
import torch_npu


def norm(x, w):
    return torch_npu.npu_rms_norm(x, w).to(x.dtype)


def attend(q, k, v, lens):
    keep = torch.tril(torch.ones(64, 64, dtype=torch.bool))
    cu = F.pad(lens.cumsum(0), (1, 0))
    a = torch_npu.npu_fusion_attention(q, k, v, 8, "BNSD", atten_mask=keep, scale=0.125)[0]
    b = torch_npu.npu_fusion_attention(
        q, k, v, 8, "TND", scale=0.125, actual_seq_qlen=cu.tolist(),
        actual_seq_kvlen=(cu + 0).tolist(),
    )[0]
    return a, b


def experts(x, w, index):
    return torch_npu.npu_grouped_matmul(
        [x], [w],
        group_list=torch.bincount(index),
        split_item=2, group_type=0,  # the plain form
    )[0]


def not_proven(x, w):
    return torch_npu.npu_rms_norm(x, w, eps=1e-6)[0]
