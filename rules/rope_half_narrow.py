"""Rotary position embedding by halves, with tables of half the width."""
import torch

from npufuse.rule import rule, rand, ranked, torch_npu, widened

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
        return torch_npu.npu_rotary_mul(
            widened(halves, x, cos, sin), ranked(wide_cos, x, cos), -ranked(wide_sin, x, cos)
        )
    return torch_npu.npu_rotary_mul(
        widened(halves, x, cos, sin), ranked(wide_cos, x, cos), ranked(wide_sin, x, cos)
    )


def requires(x, cos, sin):
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
    # The operator's page: of this layout (B, N, S, D) slower than separate kernels.
    assert 1 in cos.shape[-2:-1] or x.shape[-1] * x.element_size() % 32 == 0, (
        "rows of whole 32 bytes where the heads stand before the sequence"
    )


def sample():
    return dict(x=rand(2, 3, 16, 32), cos=rand(2, 1, 16, 16), sin=rand(2, 1, 16, 16))
