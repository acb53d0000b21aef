"""Rotary position embedding by halves, with tables of half the width."""
import torch

from npufuse.rule import rule, rand, torch_npu, widened

rule(
    id="rope_half_narrow",
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


def reference(x, cos, sin, *, regrouped=False, reverse=False):
    """x (..., d); cos, sin (..., d // 2). regrouped: pairs of neighbours go in,
    halves come out; reverse: the angle is negative."""
    if regrouped:
        a, b = x[..., 0::2], x[..., 1::2]
    else:
        a, b = x.chunk(2, dim=-1)
    if reverse:
        return torch.cat([a * cos + b * sin, b * cos - a * sin], dim=-1)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)


def replacement(x, cos, sin, *, regrouped=False, reverse=False):
    if regrouped:
        halves = torch.cat([x[..., 0::2], x[..., 1::2]], dim=-1)
    else:
        halves = x
    wide_cos = torch.cat([cos, cos], dim=-1)
    wide_sin = torch.cat([sin, sin], dim=-1)
    if reverse:
        return torch_npu.npu_rotary_mul(widened(halves, x, cos, sin), wide_cos, -wide_sin)
    return torch_npu.npu_rotary_mul(widened(halves, x, cos, sin), wide_cos, wide_sin)


def requires(x, cos, sin):
    assert x.shape[-1] % 2 == 0, "the last axis has an even size"
    assert x.dim() == cos.dim(), "the tables have as many axes as the input"
    assert cos.shape[-1] * 2 == x.shape[-1], "the tables are half as wide as the input"
    assert cos.shape == sin.shape, "cosine and sine have one shape"


def sample():
    return dict(x=rand(2, 3, 8, 16), cos=rand(2, 1, 8, 8), sin=rand(2, 1, 8, 8))
