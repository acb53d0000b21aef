"""Rotary position embedding by pairs of neighbours, with tables of half the width."""
import torch

from npufuse.rule import rule, rand, ranked, torch_npu, widened

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
            widened(x, cos, sin), ranked(wide_cos, x, cos), -ranked(wide_sin, x, cos),
            rotary_mode="interleave",
        )
    return torch_npu.npu_rotary_mul(
        widened(x, cos, sin), ranked(wide_cos, x, cos), ranked(wide_sin, x, cos),
        rotary_mode="interleave",
    )


def requires(x, cos, sin, start=3, *, counted=False, reverse=False):
    # limits() speaks of the doubled tables; this of those that are given.
    assert cos.dtype in (torch.float16, torch.bfloat16, torch.float32), (
        "cos is float16, bfloat16 or float32"
    )
    assert sin.dtype in (torch.float16, torch.bfloat16, torch.float32), (
        "sin is float16, bfloat16 or float32"
    )
    assert x.dim() in (3, 4), "the input has 3 or 4 dimensions"
    assert ranked(cos, x).dim() == x.dim(), "cos has as many dimensions as the input"
    assert sin.shape == cos.shape, "sin has the shape of cos"
    assert cos.shape[-1] * 2 == x.shape[-1], "cos is half as wide as the input"
    assert all(c in (1, n) for c, n in zip(cos.shape[-2::-1], x.shape[-2::-1])), (
        "cos is broadcast to the input"
    )
    assert cos.dim() < 3 or 1 in cos.shape[-3:-1] or cos.shape[:-3] == x.shape[:-3], (
        "cos that varies with the head varies with the batch"
    )
    assert x.dim() == 4 or cos.shape[:-2] == x.shape[:-2], (
        "cos of 3 dimensions has a row for each token"
    )
    assert all(c == n or n < 1000 for c, n in zip(ranked(cos, x).shape[:-1], x.shape)), (
        "an axis along which cos is broadcast is shorter than 1000"
    )
    # The operator's limits of this mode.
    assert cos.numel() == max((1, *cos.shape[:-1])) * cos.shape[-1], (
        "with interleave cos varies along one axis beside the last"
    )
    assert x.numel() < 2000 * cos.numel(), (
        "with interleave batch times heads is below 1000"
    )
    if counted:
        assert x.dim() == start + 1, "the pairs are the last two axes"


def sample():
    return dict(x=rand(2, 3, 8, 16), cos=rand(1, 1, 8, 8), sin=rand(1, 1, 8, 8), start=3)
