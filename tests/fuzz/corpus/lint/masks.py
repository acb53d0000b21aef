import torch
import torch.nn.functional as F
import torch_npu


def attend(q, k, v, mask, mode=0):
    return torch_npu.npu_fusion_attention(
        q, k, v, 8, "BNSD", atten_mask=mask, scale=0.125, sparse_mode=mode)[0]


def additive(q, k, v, keep):
    mask = torch.zeros(64, 64).masked_fill(~keep, float("-inf"))
    return torch_npu.npu_fusion_attention(
        q, k, v, 8, "BNSD", atten_mask=mask, scale=0.125)[0]


def additive_triangle(q, k, v):
    mask = torch.triu(torch.full((64, 64), torch.finfo(q.dtype).min), diagonal=1)
    return torch_npu.npu_fusion_attention(
        q, k, v, 8, "BNSD", atten_mask=mask[None, None], scale=0.125)[0]


def additive_product(q, k, v, keep):
    mask = (1.0 - keep) * -10000.0
    return torch_npu.npu_fusion_attention(
        q, k, v, 8, "BNSD", atten_mask=mask.to(q.dtype), scale=0.125)[0]


def inverted(q, k, v):
    mask = torch.tril(torch.ones(64, 64, dtype=torch.bool))
    return torch_npu.npu_fusion_attention(
        q, k, v, 8, "BNSD", atten_mask=mask, scale=0.125)[0]


def drops_itself(q, k, v):
    mask = torch.ones(64, 64, dtype=torch.bool).triu()
    return torch_npu.npu_fusion_attention(
        q, k, v, 8, "BNSD", atten_mask=mask, scale=0.125)[0]


def by_a_helper(q, k, v):
    return attend(q, k, v, torch.tril(torch.ones(64, 64, dtype=torch.bool)))


def shared_with_sdpa(q, k, v, mask):
    mask = mask[:, None]
    a = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    b = torch_npu.npu_fusion_attention(q, k, v, 8, "BNSD", atten_mask=mask, scale=0.125)[0]
    return a - b


def shared_in_branches(q, k, v, mask, fused):
    if fused:
        return torch_npu.npu_fusion_attention(
            q, k, v, 8, "BNSD", atten_mask=mask, scale=0.125)[0]
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)


def shared_with_eager(q, k, v, keep):
    keep = keep[:, None]
    scores = (q @ k.transpose(-1, -2)) * 0.125
    scores = scores.masked_fill(~keep, float("-inf"))
    fused = torch_npu.npu_fusion_attention(
        q, k, v, 8, "BNSD", atten_mask=keep, scale=0.125)[0]
    return scores.softmax(-1) @ v - fused


def no_effect(q, k, v):
    return torch_npu.npu_fusion_attention(q, k, v, 8, "BNSD", scale=0.125, sparse_mode=2)[0]


def too_small(q, k, v):
    mask = torch.triu(torch.ones(1024, 1024, dtype=torch.bool), diagonal=1)
    return torch_npu.npu_fusion_attention(
        q, k, v, 8, "BNSD", atten_mask=mask, scale=0.125, sparse_mode=3)[0]


def as_long_as_the_sequence(q, k, v):
    n = q.shape[2]
    mask = torch.triu(torch.ones((n, n), dtype=torch.bool), diagonal=1)
    return torch_npu.npu_fusion_attention(
        q, k, v, 8, "BNSD", atten_mask=mask, scale=0.125, sparse_mode=2)[0]


# ---- these are right ----

def additive_as_bool(q, k, v, keep):
    mask = torch.zeros(64, 64).masked_fill(~keep, float("-inf")).bool()
    return attend(q, k, v, mask)


def additive_compared(q, k, v, keep):
    mask = torch.zeros(64, 64).masked_fill(~keep, float("-inf")) < 0
    return attend(q, k, v, mask)


def negated(q, k, v):
    keep = torch.tril(torch.ones(64, 64, dtype=torch.bool))
    return attend(q, k, v, ~keep) + attend(q, k, v, keep.logical_not()) + attend(q, k, v, keep == 0)


def negated_for_sdpa(q, k, v, mask):
    a = F.scaled_dot_product_attention(q, k, v, attn_mask=~mask)
    return a - attend(q, k, v, mask)


def dropped_elsewhere(q, k, v, drop):
    scores = (q @ k.transpose(-1, -2)).masked_fill(drop, float("-inf"))
    return scores.softmax(-1) @ v - attend(q, k, v, drop)


def compressed(q, k, v):
    mask = torch.triu(torch.ones(2048, 2048, dtype=torch.bool), diagonal=1)
    return torch_npu.npu_fusion_attention(
        q, k, v, 8, "BNSD", atten_mask=mask, scale=0.125, sparse_mode=2)[0]


def mode_by_mask(q, k, v, mask):
    return torch_npu.npu_fusion_attention(
        q, k, v, 8, "BNSD", atten_mask=mask, scale=0.125,
        sparse_mode=2 if mask is not None else 0)[0]


def full_mode(q, k, v):
    mask = torch.triu(torch.ones(64, 64, dtype=torch.bool), diagonal=1)
    return attend(q, k, v, mask, 0)


def attention_mask_by_name(q, k, v, attention_mask, additive_mask, keep_mask):
    return attend(q, k, v, attention_mask) + attend(q, k, v, additive_mask) + attend(q, k, v, keep_mask)
