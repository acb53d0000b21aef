"""Rotary position embedding by halves: x * cos + cat(-x2, x1) * sin."""
import torch

from npufuse.rule import rule, rand, torch_npu, widened

rule(
    id="rope_half",
    family="rope",
    operator="npu_rotary_mul",
    priority="high",
    gain="about 6 elementwise and copying kernels become one; backward becomes one too",
    part="x",
    risks=(
        "the documented range of the tables is -1 to 1: an attention factor (YaRN, "
        "longrope) can leave it",
        "the input is kept for the backward pass: memory can rise",
    ),
)


def reference(x, cos, sin, at=1, *, cut=False, reverse=False):
    """x, cos, sin (..., d). cut: the halves are cut at a number; reverse: the
    angle is negative."""
    if cut:
        a, b = x[..., :at], x[..., at:]
    else:
        a, b = x.chunk(2, dim=-1)
    turned = torch.cat([-b, a], dim=-1)
    if reverse:
        return x * cos - turned * sin
    return x * cos + turned * sin


def replacement(x, cos, sin, at=1, *, cut=False, reverse=False):
    # The operator casts the tables to the dtype of x: x gets the widest one.
    if reverse:
        return torch_npu.npu_rotary_mul(widened(x, cos, sin), cos, -sin)
    return torch_npu.npu_rotary_mul(widened(x, cos, sin), cos, sin)


def requires(x, cos, sin, at=1, *, cut=False, reverse=False):
    # The operator's page: of this layout (B, N, S, D) slower than separate kernels.
    assert cos.shape[-2] == 1 or x.shape[-1] * x.element_size() % 32 == 0, (
        "rows of whole 32 bytes where the heads stand before the sequence"
    )
    if cut:
        assert 2 * at == x.shape[-1], "the halves are cut in the middle"


def sample():
    return dict(
        x=rand(2, 3, 8, 16), cos=rand(2, 1, 8, 16), sin=rand(2, 1, 8, 16), at=8
    )
