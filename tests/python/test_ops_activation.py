"""The activations and softmaxes of ops/: values, gradients, dtypes, limits.

What is expected comes from torch.nn.functional in float64, or from loops
written here; never from the code under test.
"""
import math

import pytest
import torch
import torch.nn.functional as F

from opslimits import never_met, refused
from opsvalues import FLOATS, close, compare, is_silent, npu, pairs


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("mode", ("none", "tanh"))
def test_gelu(mode, dtype):
    ours, wide = pairs(torch.randn(3, 4, 10).to(dtype) * 3)
    y = npu.npu_gelu(ours[0], approximate=mode)
    assert y.dtype == dtype
    compare(y, F.gelu(wide[0], approximate=mode), ours, wide)


def test_gelu_is_exact_by_default():
    x = torch.linspace(-4, 4, 200)
    close(npu.npu_gelu(x), F.gelu(x.double()), 1e-6)
    assert not torch.allclose(npu.npu_gelu(x, approximate="tanh"), npu.npu_gelu(x))
    with pytest.raises(TypeError):
        npu.npu_gelu(x, "tanh")


@pytest.mark.parametrize("dtype", FLOATS[:2], ids=str)
def test_silu(dtype):
    ours, wide = pairs(torch.randn(3, 4, 10).to(dtype) * 3)
    y = npu.npu_silu(ours[0])
    assert y.dtype == dtype
    compare(y, F.silu(wide[0]), ours, wide)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("mode", ("none", "tanh"))
def test_gelu_mul(mode, dtype):
    x = torch.randn(3, 4, 10).to(dtype)
    y = npu.npu_gelu_mul(x, approximate=mode)
    assert y.dtype == dtype
    gate, up = x.double()[..., :5], x.double()[..., 5:]
    close(y, F.gelu(gate, approximate=mode) * up)
    is_silent(lambda t: npu.npu_gelu_mul(t, approximate=mode), x)


def clipped(gate, up, alpha, limit, bias):
    """One element, in Python's floats."""
    gate, up = min(gate, limit), max(min(up, limit), -limit)
    return gate / (1 + math.exp(-alpha * gate)) * (up + bias)


CLIPPED = [
    ({}, 1.702, 7.0, 1.0),
    ({"alpha": 0.7, "limit": 1.0, "bias": 1.2}, 0.7, 1.0, 1.2),
]


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("given, alpha, limit, bias", CLIPPED)
@pytest.mark.parametrize("interleaved", (True, False))
def test_clipped_swiglu(interleaved, given, alpha, limit, bias, dtype):
    x = (torch.randn(3, 8) * 6).to(dtype)
    y = npu.npu_clipped_swiglu(x, interleaved=interleaved, **given)
    step, apart = (2, 1) if interleaved else (1, 4)
    expected = [
        [
            clipped(row[i * step], row[i * step + apart], alpha, limit, bias)
            for i in range(4)
        ]
        for row in x.tolist()
    ]
    assert y.dtype == dtype
    close(y, torch.tensor(expected, dtype=torch.float64))


def test_clipped_swiglu_along_an_inner_axis():
    """The axes from dim on are one row of elements."""
    x = torch.randn(2, 4, 3)
    y = npu.npu_clipped_swiglu(x, dim=1)
    assert y.shape == (2, 2, 3)
    same = npu.npu_clipped_swiglu(x.reshape(2, 12))
    assert torch.equal(y.reshape(2, 6), same)
    y = npu.npu_clipped_swiglu(x, dim=1, interleaved=False)
    for b in range(2):
        for i in range(2):
            for j in range(3):
                pair = x[b, i, j].item(), x[b, i + 2, j].item()
                assert y[b, i, j].item() == pytest.approx(
                    clipped(*pair, 1.702, 7.0, 1.0), rel=1e-5, abs=1e-6
                )


def test_clipped_swiglu_stops_after_the_groups():
    x = torch.randn(6, 8)
    y = npu.npu_clipped_swiglu(x, group_index=torch.tensor([1, 3]))
    assert torch.equal(y[:4], npu.npu_clipped_swiglu(x[:4].contiguous()))
    assert (y[4:] == 0).all()
    is_silent(npu.npu_clipped_swiglu, x)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("mask_shape", ((2, 3, 32, 64), (2, 1, 32, 64), (32, 64), (64,)))
def test_scaled_masked_softmax(mask_shape, dtype):
    ours, wide = pairs(torch.randn(2, 3, 32, 64).to(dtype) * 4)
    mask = torch.rand(mask_shape) < 0.4
    y = npu.npu_scaled_masked_softmax(ours[0], mask, 0.3)
    assert y.dtype == dtype
    scores = torch.where(mask, -float("inf"), wide[0] * 0.3)
    compare(y, scores.softmax(-1), ours, wide)


def test_scaled_masked_softmax_of_a_masked_row_is_uniform():
    x = torch.randn(1, 1, 32, 32)
    y = npu.npu_scaled_masked_softmax(x, torch.ones(32, 32, dtype=torch.bool))
    close(y, torch.full_like(y, 1 / 32))


X = torch.randn(2, 8)
NINE = torch.ones([1] * 9)
GATED = torch.randn(2, 8)
SCORES, MASK = torch.randn(2, 3, 32, 32), torch.zeros(2, 1, 32, 32, dtype=torch.bool)


def scores(height, width):
    return torch.empty(1, 1, height, width)


BROKEN = [
    ("npu_gelu", (X.double(),), {}, "float16, bfloat16"),
    ("npu_gelu", (NINE,), {}, "at most 8"),
    ("npu_gelu", (X,), {"approximate": "erf"}, "none or tanh"),
    ("npu_silu", (X.bfloat16(),), {}, "float16 or float32"),
    ("npu_gelu_mul", (X.double(),), {}, "float16, bfloat16"),
    ("npu_gelu_mul", (X[0],), {}, "at least 2"),
    ("npu_gelu_mul", (NINE,), {}, "at most 8"),
    ("npu_gelu_mul", (X[:, :7],), {}, "even"),
    ("npu_gelu_mul", (torch.ones(1, 1026),), {}, "at most 1024"),
    ("npu_gelu_mul", (torch.ones(200001, 2),), {}, "200000 rows"),
    ("npu_gelu_mul", (X,), {"approximate": "erf"}, "none or tanh"),
    ("npu_clipped_swiglu", (GATED.double(),), {}, "float16, bfloat16"),
    ("npu_clipped_swiglu", (GATED[0],), {}, "at least 2"),
    ("npu_clipped_swiglu", (GATED.t(),), {}, "contiguous"),
    ("npu_clipped_swiglu", (GATED,), {"dim": -3}, "names an axis"),
    ("npu_clipped_swiglu", (GATED,), {"dim": 2}, "names an axis"),
    ("npu_clipped_swiglu", (GATED[:, :7].contiguous(),), {}, "even"),
    ("npu_clipped_swiglu", (GATED,), {"group_index": torch.ones(2)}, "int64"),
    ("npu_clipped_swiglu", (GATED,), {"group_index": torch.tensor(2)}, "1 dimension"),
    ("npu_scaled_masked_softmax", (SCORES.double(), MASK), {}, "float16, bfloat16"),
    ("npu_scaled_masked_softmax", (SCORES[0], MASK), {}, "4 dimensions"),
    ("npu_scaled_masked_softmax", (scores(31, 32), MASK), {}, "at least 32"),
    ("npu_scaled_masked_softmax", (scores(32, 31), MASK), {}, "at least 32"),
    ("npu_scaled_masked_softmax", (scores(4128, 32), MASK), {}, "at most 4096"),
    ("npu_scaled_masked_softmax", (scores(32, 4128), MASK), {}, "at most 4096"),
    ("npu_scaled_masked_softmax", (scores(33, 32), MASK), {}, "multiples of 32"),
    ("npu_scaled_masked_softmax", (scores(32, 33), MASK), {}, "multiples of 32"),
    ("npu_scaled_masked_softmax", (SCORES, MASK.float()), {}, "True where masked"),
    ("npu_scaled_masked_softmax", (SCORES, MASK[None]), {}, "mask has at most 4"),
    ("npu_scaled_masked_softmax", (SCORES, MASK[..., :2]), {}, "broadcast to x"),
    ("npu_scaled_masked_softmax", (SCORES, MASK[..., :2, :]), {}, "broadcast to x"),
    ("npu_scaled_masked_softmax", (SCORES, MASK[:, [0, 0]]), {}, "broadcast to x"),
    ("npu_scaled_masked_softmax", (SCORES, MASK[[0, 0, 0]]), {}, "broadcast to x"),
    ("npu_scaled_masked_softmax", (SCORES, MASK, 1.0, True), {}, "triu_mask is False"),
]


@pytest.mark.parametrize("name, arguments, keywords, text", BROKEN)
def test_limit(name, arguments, keywords, text):
    assert text in refused(name, arguments, keywords)[1]


@pytest.mark.parametrize("name", sorted({row[0] for row in BROKEN}))
def test_every_limit_is_met(name):
    assert never_met(name, [row[1:3] for row in BROKEN if row[0] == name]) == []
