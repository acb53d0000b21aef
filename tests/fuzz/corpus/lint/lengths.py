import itertools

import torch
import torch.nn.functional as F
import torch_npu
from flash_attn import flash_attn_varlen_func


def attend(q, k, v, ends):
    return torch_npu.npu_fusion_attention(
        q, k, v, 8, "TND", scale=0.125, actual_seq_qlen=ends, actual_seq_kvlen=ends)[0]


def leading_zero(q, k, v, lens):
    cu = F.pad(lens.cumsum(0), (1, 0))
    return torch_npu.npu_fusion_attention(
        q, k, v, 8, "TND", scale=0.125, actual_seq_qlen=cu.tolist(),
        actual_seq_kvlen=cu[1:].tolist())[0]


def leading_zero_joined(q, k, v, lens):
    cu = torch.cat([torch.zeros(1), torch.cumsum(lens, 0)])
    return attend(q, k, v, cu.cpu().tolist())


def as_flash(q, k, v, cu):
    a = flash_attn_varlen_func(q, k, v, cu, cu, 64, 64)
    b = torch_npu.npu_fusion_attention(
        q, k, v, 8, "TND", scale=0.125, actual_seq_qlen=cu.tolist(), actual_seq_kvlen=[64])[0]
    return a - b


def differences(q, k, v, cu):
    return attend(q, k, v, torch.diff(cu).tolist()) + attend(q, k, v, (cu[1:] - cu[:-1]).tolist())


def one_by_one(q, k, v, samples):
    return attend(q, k, v, [len(s) for s in samples])


def repeated(q, k, v, b, s):
    return attend(q, k, v, [s] * b)


def written_out(q, k, v):
    return attend(q, k, v, [0, 128, 256]) + attend(q, k, v, [264, 400, 336])


def inference(q, k, v, lens):
    return torch_npu.npu_fused_infer_attention_score(
        q, k, v, num_heads=8, scale=0.125, input_layout="TND",
        actual_seq_lengths=torch.diff(lens).tolist(), actual_seq_lengths_kv=lens.tolist())[0]


# ---- these are right ----

def ends(q, k, v, lens):
    return attend(q, k, v, lens.cumsum(0).tolist()) + attend(q, k, v, [264, 664, 1000])


def behind_the_zero(q, k, v, lens):
    cu = F.pad(lens.cumsum(0), (1, 0))
    return attend(q, k, v, cu[1:].tolist())


def not_shown(q, k, v, seq_lens, cu_seqlens):
    return attend(q, k, v, seq_lens) + attend(q, k, v, cu_seqlens)


def accumulated(q, k, v, lens):
    return attend(q, k, v, list(itertools.accumulate(lens)))


def flash_in_another_branch(q, k, v, cu, fused):
    if fused:
        return attend(q, k, v, cu)
    return flash_attn_varlen_func(q, k, v, cu, cu, 64, 64)


def of_one_sequence(q, k, v, s):
    return attend(q, k, v, [s])


def not_packed(q, k, v, lens):
    return torch_npu.npu_fused_infer_attention_score(
        q, k, v, num_heads=8, scale=0.125, input_layout="BSH",
        actual_seq_lengths=torch.diff(lens).tolist())[0]
