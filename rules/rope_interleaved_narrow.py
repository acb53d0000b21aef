"""Rotary position embedding by pairs of neighbours, with tables of half the width."""
import torch

from npufuse.rule import rule, rand, torch_npu, widened

rule(
    id="rope_interleaved_narrow",
    family="rope",
    operator="npu_rotary_mul",
    priority="medium",
    gain="about 6 elementwise and copying kernels become one; backward becomes one too",
    part="x",
    risks=(
        "both tables are doubled at each call: build them at full width where they are made",
        "the documented range of the tables is -1 to 1: an attention factor (YaRN, "
        "longrope) can leave it",
        "the input is kept for the backward pass: memory can rise",
    ),
)


def reference(x, cos, sin, start=3, *, counted=False, reverse=False):
    """x (..., d); cos, sin (..., d // 2). counted: the pairs are joined from an
    axis counted from the front; reverse: the angle is negative."""
    a, b = x[..., 0::2], x[..., 1::2]
    if reverse:
        pairs = torch.stack([a * cos + b * sin, b * cos - a * sin], dim=-1)
    else:
        pairs = torch.stack([a * cos - b * sin, b * cos + a * sin], dim=-1)
    if counted:
        return pairs.flatten(start)
    return pairs.flatten(-2)


def replacement(x, cos, sin, start=3, *, counted=False, reverse=False):
    wide_cos = cos.repeat_interleave(2, dim=-1)
    wide_sin = sin.repeat_interleave(2, dim=-1)
    if reverse:
        return torch_npu.npu_rotary_mul(
            widened(x, cos, sin), wide_cos, -wide_sin, rotary_mode="interleave"
        )
    return torch_npu.npu_rotary_mul(
        widened(x, cos, sin), wide_cos, wide_sin, rotary_mode="interleave"
    )


def requires(x, cos, sin, start=3, *, counted=False, reverse=False):
    assert x.shape[-1] % 2 == 0, "the last axis has an even size"
    assert x.dim() == cos.dim(), "the tables have as many axes as the input"
    assert cos.shape[-1] * 2 == x.shape[-1], "the tables are half as wide as the input"
    assert cos.shape == sin.shape, "cosine and sine have one shape"
    if counted:
        assert x.dim() == start + 1, "the pairs are the last two axes"


def sample():
    return dict(x=rand(2, 3, 8, 16), cos=rand(1, 1, 8, 8), sin=rand(1, 1, 8, 8), start=3)
