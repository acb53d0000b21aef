import torch_npu


def silenced(q, k, v):
    a = torch_npu.npu_fusion_attention(q, k, v, 8, "BNSD")[0]  # npufuse: ignore[scale-left-out] reason=q is scaled
    # npufuse: ignore[planned-removal, scale-left-out] reason=until the next release
    b = torch_npu.npu_silu(q)
    return a + b


def without_reason(q):
    return torch_npu.npu_silu(q)  # npufuse: ignore[planned-removal]


def another_check(q):
    return torch_npu.npu_silu(q)  # npufuse: ignore[mask-kind] reason=none


TEXT = """
# npufuse: ignore[mask-kind] reason=a text is no comment
"""
