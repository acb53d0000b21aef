"""Rotary position embedding by halves: x * cos + cat(-x2, x1) * sin."""
import torch

from npufuse.rule import rule, rand, ranked, torch_npu, widened

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


def reference(x, cos, sin, at=1, scale=1.0, *, cut=False, reverse=False, scaled=False):
    """x, cos, sin (..., d). cut: the halves are cut at a number; reverse: the
    angle is negative; scaled: by a number."""
    if scaled:
        a, b = x.chunk(2, dim=-1)
        return x * cos * scale + torch.cat([-b, a], dim=-1) * sin * scale
    if cut:
        a, b = x[..., :at], x[..., at:]
    else:
        a, b = x.chunk(2, dim=-1)
    turned = torch.cat([-b, a], dim=-1)
    if reverse:
        return x * cos - turned * sin
    return x * cos + turned * sin


def replacement(x, cos, sin, at=1, scale=1.0, *, cut=False, reverse=False, scaled=False):
    if scaled:
        return torch_npu.npu_rotary_mul(
            widened(x, cos, sin), ranked(cos, x) * scale, ranked(sin, x, cos) * scale
        )
    # The operator casts the tables to the dtype of x: x gets the widest one.
    if reverse:
        return torch_npu.npu_rotary_mul(
            widened(x, cos, sin), ranked(cos, x), -ranked(sin, x, cos)
        )
    return torch_npu.npu_rotary_mul(
        widened(x, cos, sin), ranked(cos, x), ranked(sin, x, cos)
    )


def requires(x, cos, sin, at=1, scale=1.0, *, cut=False, reverse=False, scaled=False):
    # As in limits(), which rules test does not ask.
    assert x.dim() in (3, 4), "the input has 3 or 4 dimensions"
    assert ranked(cos, x).dim() == x.dim(), "cos has as many dimensions as the input"
    assert sin.shape == cos.shape, "sin has the shape of cos"
    assert cos.shape[-1] == x.shape[-1], "cos is as wide as the input"
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
    if cut:
        assert 2 * at == x.shape[-1], "the halves are cut in the middle"
    if scaled:
        assert isinstance(scale, (int, float)), "the scale is a number"


def sample():
    return dict(
        x=rand(2, 3, 8, 16), cos=rand(2, 1, 8, 16), sin=rand(2, 1, 8, 16), at=8,
        scale=0.5,
    )
