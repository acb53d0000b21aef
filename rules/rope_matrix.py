"""Rotary position embedding by a 2 x 2 matrix for each pair of neighbours.

Whatever the matrices are, the operator computes it: it multiplies either
element of a pair, and the turned pair, by a number of its own.
"""
import torch

from npufuse.rule import rule, rand, torch_npu, widened

rule(
    id="rope_matrix",
    family="rope",
    operator="npu_rotary_mul",
    priority="medium",
    gain="2 multiplications, an addition and their copies become one kernel; backward too",
    part="x",
    risks=(
        "both tables are made of the matrices at each call: build them where those are made",
        "the documented range of the tables is -1 to 1",
        "the input is kept for the backward pass: memory can rise",
    ),
)


def reference(x, freqs, start=3, last=5, *, summed=False, counted=False):
    """x (..., d); freqs (..., d // 2, 2, 2), a matrix for each pair. summed: by a
    sum over the last axis; counted: the axes are counted from the front."""
    rows = x.unflatten(-1, (-1, 1, 2))
    if summed:
        if counted:
            return (rows * freqs).sum(last).flatten(start)
        return (rows * freqs).sum(-1).flatten(-2)
    turned = freqs[..., 0] * rows[..., 0] + freqs[..., 1] * rows[..., 1]
    if counted:
        return turned.flatten(start)
    return turned.flatten(-2)


def replacement(x, freqs, start=3, last=5, *, summed=False, counted=False):
    cos = torch.stack([freqs[..., 0, 0], freqs[..., 1, 1]], dim=-1).flatten(-2)
    sin = torch.stack([-freqs[..., 0, 1], freqs[..., 1, 0]], dim=-1).flatten(-2)
    return torch_npu.npu_rotary_mul(widened(x, freqs), cos, sin, rotary_mode="interleave")


def requires(x, freqs, start=3, last=5, *, summed=False, counted=False):
    # limits() speaks of the tables; this of the matrices they are made of.
    assert freqs.dtype in (torch.float16, torch.bfloat16, torch.float32), (
        "the matrices are float16, bfloat16 or float32"
    )
    assert x.dim() in (3, 4), "the input has 3 or 4 dimensions"
    assert freqs.dim() == x.dim() + 2, "the matrices have two dimensions more than the input"
    assert tuple(freqs.shape[-2:]) == (2, 2), "the matrices are 2 x 2"
    assert freqs.shape[-3] * 2 == x.shape[-1], "one matrix a pair"
    assert all(c in (1, n) for c, n in zip(freqs.shape[:-3], x.shape)), (
        "the matrices are broadcast to the input"
    )
    assert x.dim() == 4 or freqs.shape[0] == x.shape[0], (
        "of an input of 3 dimensions there is a row of matrices for each token"
    )
    assert all(c == n or n < 1000 for c, n in zip(freqs.shape[:-3], x.shape)), (
        "an axis along which the matrices are broadcast is shorter than 1000"
    )
    # The operator's limits of this mode.
    assert freqs.numel() in (
        4 * freqs.shape[0] * freqs.shape[-3],
        4 * freqs.shape[1] * freqs.shape[-3],
        4 * freqs.shape[-4] * freqs.shape[-3],
    ), "with interleave the matrices vary along one axis beside the pairs"
    assert x.numel() < 500 * freqs.numel(), (
        "with interleave batch times heads is below 1000"
    )
    if counted:
        assert x.dim() == start + 1, "the pairs are the last two axes"
    if counted and summed:
        assert x.dim() + 1 == last, "the sum is over the last axis"


def sample():
    return dict(x=rand(2, 3, 8, 16), freqs=rand(1, 1, 8, 8, 2, 2), start=3, last=5)
