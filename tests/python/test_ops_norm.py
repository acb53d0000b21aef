"""The normalisations of ops/: values, gradients, dtypes, shapes, limits.

What is expected comes from torch.nn.functional in float64, or from loops
written here; never from the code under test.
"""
import pytest
import torch
import torch.nn.functional as F

from opslimits import never_met, refused
from opsvalues import FLOATS, close, compare, is_silent, npu, pairs, raises_backward

SHAPES = [((4, 8), (8,)), ((5, 2, 3, 4), (3, 4)), ((3, 4), (3, 4)), ((8,), (8,))]


def kept(shape, normal):
    """The shape of rstd: the normalised axes with size 1."""
    return shape[: len(shape) - len(normal)] + (1,) * len(normal)


def rstd_of(x, normal, epsilon):
    flat = x.double().reshape(-1, torch.Size(normal).numel())
    rows = [sum(v * v for v in row) / len(row) for row in flat]
    return torch.stack([1 / (r + epsilon).sqrt() for r in rows])


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("shape, normal", SHAPES)
def test_gemma_rms_norm(shape, normal, dtype):
    x, gamma = torch.randn(shape).to(dtype), torch.randn(normal).to(dtype)
    y, rstd = npu.npu_gemma_rms_norm(x, gamma, 1e-3)
    assert y.dtype == dtype and rstd.dtype == torch.float32
    close(y, F.rms_norm(x.double(), normal, 1 + gamma.double(), 1e-3))
    assert rstd.shape == kept(shape, normal)
    close(rstd.flatten(), rstd_of(x, normal, 1e-3))


def test_gemma_rms_norm_has_no_gradient():
    is_silent(lambda x: npu.npu_gemma_rms_norm(x, torch.ones(8)), torch.randn(2, 8))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("shape, normal", SHAPES)
def test_add_rms_norm(shape, normal, dtype):
    x1, x2 = torch.randn(shape).to(dtype), torch.randn(shape).to(dtype)
    gamma = torch.randn(normal).to(dtype)
    y, rstd, total = npu.npu_add_rms_norm(x1, x2, gamma, 1e-3)
    assert y.dtype == total.dtype == dtype and rstd.dtype == torch.float32
    rounded = (x1.double() + x2.double()).to(dtype)
    assert torch.equal(total, rounded)
    close(y, F.rms_norm(rounded.double(), normal, gamma.double(), 1e-3))
    assert rstd.shape == kept(shape, normal)
    close(rstd.flatten(), rstd_of(rounded, normal, 1e-3))


def test_add_rms_norm_has_no_backward():
    ones = torch.ones(8)
    raises_backward(
        lambda x: npu.npu_add_rms_norm(x, x.detach(), ones), torch.randn(2, 8)
    )


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("wide_gamma", (False, True))
@pytest.mark.parametrize("shape, normal", SHAPES)
def test_add_layer_norm(shape, normal, wide_gamma, dtype):
    weights = torch.float32 if wide_gamma else dtype
    ours, wide = pairs(
        torch.randn(shape).to(dtype), torch.randn(shape).to(dtype),
        torch.randn(normal).to(weights), torch.randn(normal).to(weights),
    )
    y, mean, rstd, total = npu.npu_add_layer_norm(*ours, 1e-3, True)
    s = wide[0] + wide[1]
    expected = F.layer_norm(s, normal, wide[2], wide[3], 1e-3)
    assert y.dtype == total.dtype == dtype
    close(total, s)
    assert mean.dtype == rstd.dtype == torch.float32
    assert mean.shape == rstd.shape == shape[: len(shape) - len(normal)] + (1,)
    rows = s.detach().reshape(-1, torch.Size(normal).numel())
    close(mean.flatten(), rows.mean(1))
    close(rstd.flatten(), 1 / (rows.var(1, correction=0) + 1e-3).sqrt())
    # Both results carry a gradient, as in a residual stream.
    compare(y + total, expected + s, ours, wide)


@pytest.mark.parametrize("dtypes", ((torch.float16, torch.float32),
                                    (torch.float32, torch.bfloat16)))
def test_add_layer_norm_of_two_dtypes_is_float32(dtypes):
    x1, x2 = (torch.randn(4, 8).to(d) for d in dtypes)
    y, _, _, total = npu.npu_add_layer_norm(
        x1, x2, torch.ones(8), torch.zeros(8), additional_output=True
    )
    assert y.dtype == total.dtype == torch.float32
    s = x1.double() + x2.double()
    close(total, s)
    close(y, F.layer_norm(s, (8,), eps=1e-5))


def test_add_layer_norm_gives_the_sum_only_where_asked():
    x = torch.randn(2, 8)
    total = npu.npu_add_layer_norm(x, x, torch.ones(8), torch.zeros(8))[3]
    assert total.shape == x.shape and total.isnan().all()


GROUPS = [((3, 6), 2), ((2, 6, 5), 3), ((2, 8, 3, 4), 1), ((2, 4, 3, 2, 2), 4)]


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("shape, groups", GROUPS)
def test_group_norm_silu(shape, groups, dtype):
    x = torch.randn(shape).to(dtype)
    weight, bias = torch.randn(shape[1]).to(dtype), torch.randn(shape[1]).to(dtype)
    out, mean, rstd = npu.npu_group_norm_silu(x, weight, bias, groups, 1e-3)
    normal = F.group_norm(x.double(), groups, weight.double(), bias.double(), 1e-3)
    assert out.dtype == mean.dtype == rstd.dtype == dtype
    assert out.shape == shape and mean.shape == rstd.shape == (shape[0], groups)
    close(out, F.silu(normal))
    rows = x.double().reshape(shape[0], groups, -1)
    close(mean, rows.mean(-1))
    close(rstd, 1 / (rows.var(-1, correction=0) + 1e-3).sqrt())


def test_group_norm_silu_without_weight_or_bias():
    x = torch.randn(2, 6, 5)
    weight, bias = torch.randn(6), torch.randn(6)
    for w, b in ((None, None), (weight, None), (None, bias)):
        out = npu.npu_group_norm_silu(x, w, b, 3)[0]
        wide = [None if t is None else t.double() for t in (w, b)]
        close(out, F.silu(F.group_norm(x.double(), 3, *wide)))
    half = npu.npu_group_norm_silu(x.half(), weight, bias, 3)
    assert {t.dtype for t in half} == {torch.float16}


def test_group_norm_silu_has_no_gradient():
    is_silent(
        lambda x: npu.npu_group_norm_silu(x, None, None, 2), torch.randn(2, 4, 3)
    )


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("scale", (1.0, 1.7))
@pytest.mark.parametrize("shape, groups", GROUPS)
def test_group_norm_swish(shape, groups, scale, dtype):
    ours, wide = pairs(*(torch.randn(s).to(dtype) for s in (shape, shape[1], shape[1])))
    x, weight, bias = ours
    y, mean, rstd = npu.npu_group_norm_swish(x, groups, weight, bias, 1e-3, scale)
    normal = F.group_norm(wide[0], groups, wide[1], wide[2], 1e-3)
    assert y.dtype == mean.dtype == rstd.dtype == dtype
    assert mean.shape == rstd.shape == (shape[0], groups)
    assert not mean.requires_grad and not rstd.requires_grad
    rows = x.detach().double().reshape(shape[0], groups, -1)
    close(mean, rows.mean(-1))
    close(rstd, 1 / (rows.var(-1, correction=0) + 1e-3).sqrt())
    compare(y, normal * torch.sigmoid(scale * normal), ours, wide)


def test_group_norm_swish_reads_none_as_the_default():
    x, ones, zeros = torch.randn(2, 4, 3), torch.ones(4), torch.zeros(4)
    none = npu.npu_group_norm_swish(x, 2, ones, zeros, eps=None, swish_scale=None)
    close(none[0], F.silu(F.group_norm(x.double(), 2, eps=1e-5)))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("shape, normal", SHAPES[:2])
def test_deep_norm(shape, normal, dtype):
    ours, wide = pairs(*(torch.randn(s).to(dtype) for s in (shape, shape, normal, normal)))
    mean, rstd, y = npu.npu_deep_norm(*ours, alpha=0.7, epsilon=1e-3)
    x, gx, beta, gamma = wide
    total = 0.7 * x + gx
    assert y.dtype == dtype and mean.dtype == rstd.dtype == torch.float32
    assert mean.shape == rstd.shape == kept(shape, normal)
    assert not mean.requires_grad and not rstd.requires_grad
    rows = total.detach().reshape(-1, torch.Size(normal).numel())
    close(mean.flatten(), rows.mean(1))
    close(rstd.flatten(), 1 / (rows.var(1, correction=0) + 1e-3).sqrt())
    compare(y, F.layer_norm(total, normal, gamma, beta, 1e-3), ours, wide)


def test_deep_norm_adds_three_tenths_by_default():
    x, gx = torch.randn(3, 8), torch.randn(3, 8)
    y = npu.npu_deep_norm(x, gx, torch.zeros(8), torch.ones(8))[2]
    close(y, F.layer_norm(0.3 * x.double() + gx.double(), (8,), eps=1e-6))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("shape, normal", SHAPES)
def test_layer_norm_eval(shape, normal, dtype):
    x, weight, bias = (torch.randn(s).to(dtype) for s in (shape, normal, normal))
    y = npu.npu_layer_norm_eval(x, list(normal), weight, bias, 1e-3)
    assert y.dtype == dtype and y.shape == shape
    close(y, F.layer_norm(x.double(), normal, weight.double(), bias.double(), 1e-3))
    close(npu.npu_layer_norm_eval(x, normal), F.layer_norm(x.double(), normal, eps=1e-5))
    is_silent(lambda t: npu.npu_layer_norm_eval(t, normal), x)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("shape, normal", SHAPES)
def test_add_rms_norm_v2_writes_over_its_inputs(shape, normal, dtype):
    x1, x2 = torch.randn(shape).to(dtype), torch.randn(shape).to(dtype)
    gamma = torch.randn(normal).to(dtype)
    y, _, total = npu.npu_add_rms_norm(x1, x2, gamma, 1e-3)
    rounded = (x1.double() + x2.double()).to(dtype)
    rstd = npu.npu_add_rms_norm_v2(x1, x2, gamma, 1e-3)
    assert rstd.dtype == torch.float32 and rstd.shape == kept(shape, normal)
    close(rstd.flatten(), rstd_of(rounded, normal, 1e-3))
    assert torch.equal(x2, rounded) and torch.equal(x2, total)
    close(x1, F.rms_norm(rounded.double(), normal, gamma.double(), 1e-3))
    assert torch.equal(x1, y)


@pytest.mark.parametrize("dtype", FLOATS[1:], ids=str)
@pytest.mark.parametrize("shape, normal", SHAPES)
def test_add_rms_norm_cast(shape, normal, dtype):
    x1, x2 = torch.randn(shape).to(dtype), torch.randn(shape).to(dtype)
    gamma = torch.randn(normal).to(dtype)
    wide, y, rstd, total = npu.npu_add_rms_norm_cast(x1, x2, gamma, 1e-3)
    rounded = (x1.double() + x2.double()).to(dtype)
    expected = F.rms_norm(rounded.double(), normal, gamma.double(), 1e-3)
    assert wide.dtype == rstd.dtype == torch.float32 and y.dtype == total.dtype == dtype
    close(wide, expected)
    assert torch.equal(y, wide.to(dtype)) and torch.equal(total, rounded)
    assert rstd.shape == kept(shape, normal)
    close(rstd.flatten(), rstd_of(rounded, normal, 1e-3))
    is_silent(lambda x: npu.npu_add_rms_norm_cast(x, x2, gamma), x1)


X, W = torch.randn(2, 8), torch.ones(8)
H, V = X.half(), W.half()
ODD = torch.randn(8, 2).t()
NINE = torch.ones([1] * 9)
IMAGE, CHANNELS = torch.randn(2, 4, 3), torch.ones(4)
ROW = torch.tensor(1.0)
LARGE = torch.ones(1, 4001, requires_grad=True)
BROKEN = [
    ("npu_gemma_rms_norm", (X.double(), W.double()), "float16, bfloat16"),
    ("npu_gemma_rms_norm", (ROW, W), "at least 1"),
    ("npu_gemma_rms_norm", (NINE, torch.ones(1)), "at most 8"),
    ("npu_gemma_rms_norm", (X, ROW), "gamma has at least 1"),
    ("npu_gemma_rms_norm", (X, torch.ones(1, 2, 8)), "no more axes"),
    ("npu_gemma_rms_norm", (X, torch.ones(4)), "last axes"),
    ("npu_gemma_rms_norm", (X.half(), W), "input's dtype"),
    ("npu_gemma_rms_norm", (X.t(), torch.ones(2)), "contiguous"),
    ("npu_gemma_rms_norm", (torch.empty(0, 8), W), "not empty"),
    ("npu_add_rms_norm", (X.double(), X.double(), W.double()), "x1 is float16"),
    ("npu_add_rms_norm", (ROW, ROW, W), "x1 has at least 1"),
    ("npu_add_rms_norm", (NINE, NINE, torch.ones(1)), "at most 8"),
    ("npu_add_rms_norm", (torch.empty(0, 8), torch.empty(0, 8), W), "not empty"),
    ("npu_add_rms_norm", (X, X.half(), W), "x2 has x1's dtype"),
    ("npu_add_rms_norm", (X, X[:1], W), "x2 has x1's shape"),
    ("npu_add_rms_norm", (X.half(), X.half(), W), "gamma has x1's dtype"),
    ("npu_add_rms_norm", (X, X, ROW), "gamma has at least 1"),
    ("npu_add_rms_norm", (X, X, torch.ones(1, 2, 8)), "no more axes"),
    ("npu_add_rms_norm", (X, X, torch.ones(4)), "last axes"),
    ("npu_add_layer_norm", (ROW, ROW, W, W), "x1 has at least 1"),
    ("npu_add_layer_norm", (NINE, NINE, W, W), "at most 8"),
    ("npu_add_layer_norm", (torch.empty(0, 8), torch.empty(0, 8), W, W), "empty"),
    ("npu_add_layer_norm", (X, X[:1], W, W), "x2 has x1's shape"),
    ("npu_add_layer_norm", (X, X, ROW, ROW), "gamma has at least 1"),
    ("npu_add_layer_norm", (X, X, torch.ones(1, 2, 8), W), "no more axes"),
    ("npu_add_layer_norm", (X, X, torch.ones(4), W), "last axes"),
    ("npu_add_layer_norm", (X, X, W, torch.ones(4)), "beta has gamma's shape"),
    ("npu_add_layer_norm", (X.double(), X, W, W), "x1 is float16"),
    ("npu_add_layer_norm", (X, X.double(), W, W), "x2 is float16"),
    ("npu_add_layer_norm", (X.half(), X.bfloat16(), W, W), "one of them is float32"),
    ("npu_add_layer_norm", (X, X.half(), W.half(), W.half()), "gamma is float32"),
    ("npu_add_layer_norm", (X.half(), X.half(), W, W.half()), "gamma's dtype"),
    ("npu_group_norm_silu", (IMAGE.double(), None, None, 2), "float16, bfloat16"),
    ("npu_group_norm_silu", (X[0], None, None, 2), "at least 2"),
    ("npu_group_norm_silu", (NINE, None, None, 1), "at most 8"),
    ("npu_group_norm_silu", (IMAGE[:0], None, None, 2), "not empty"),
    ("npu_group_norm_silu", (IMAGE, None, None, 0), "group is above 0"),
    ("npu_group_norm_silu", (IMAGE, None, None, 3), "divisible by group"),
    ("npu_group_norm_silu", (IMAGE, None, None, 2, 0.0), "eps is above 0"),
    ("npu_group_norm_silu", (IMAGE, ROW, None, 2), "weight has 1 dim"),
    ("npu_group_norm_silu", (IMAGE, W, None, 2), "weight has one"),
    ("npu_group_norm_silu", (IMAGE, CHANNELS.half(), None, 2), "weight has the input"),
    ("npu_group_norm_silu", (IMAGE, None, ROW, 2), "bias has 1 dim"),
    ("npu_group_norm_silu", (IMAGE, None, W, 2), "bias has one"),
    ("npu_group_norm_silu", (IMAGE, None, CHANNELS.half(), 2), "bias has the input"),
    (
        "npu_group_norm_silu",
        (IMAGE.half(), CHANNELS, CHANNELS.half(), 2),
        "bias has weight's dtype",
    ),
    ("npu_group_norm_swish", (IMAGE.double(), 2, CHANNELS, CHANNELS), "float16, bf"),
    ("npu_group_norm_swish", (X[0], 2, CHANNELS, CHANNELS), "at least 2"),
    ("npu_group_norm_swish", (NINE, 1, ROW, ROW), "at most 8"),
    ("npu_group_norm_swish", (IMAGE, 0, CHANNELS, CHANNELS), "num_groups is above"),
    ("npu_group_norm_swish", (IMAGE, 3, CHANNELS, CHANNELS), "divisible by num"),
    ("npu_group_norm_swish", (LARGE, 1, LARGE[0], LARGE[0]), "at most 4000"),
    ("npu_group_norm_swish", (IMAGE, 2, ROW, CHANNELS), "weight has 1 dim"),
    ("npu_group_norm_swish", (IMAGE, 2, W, CHANNELS), "weight has one"),
    ("npu_group_norm_swish", (IMAGE, 2, CHANNELS.half(), CHANNELS), "weight has the"),
    ("npu_group_norm_swish", (IMAGE, 2, CHANNELS, ROW), "bias has 1 dim"),
    ("npu_group_norm_swish", (IMAGE, 2, CHANNELS, W), "bias has one"),
    ("npu_group_norm_swish", (IMAGE, 2, CHANNELS, CHANNELS.half()), "bias has the"),
    ("npu_deep_norm", (X.double(), X, W, W), "x is float16"),
    ("npu_deep_norm", (X[0], X[0], W, W), "at least 2"),
    ("npu_deep_norm", (NINE, NINE, W, W), "at most 8"),
    ("npu_deep_norm", (X, X.half(), W, W), "gx has x's dtype"),
    ("npu_deep_norm", (X, X[:1], W, W), "gx has x's shape"),
    ("npu_deep_norm", (X, X, W, W.half()), "gamma has x's dtype"),
    ("npu_deep_norm", (X, X, W, ROW), "gamma has at least 1"),
    ("npu_deep_norm", (X, X, W, torch.ones(2, 8)), "fewer axes"),
    ("npu_deep_norm", (X, X, W, torch.ones(4)), "last axes"),
    ("npu_deep_norm", (X, X, W.half(), W), "beta has x's dtype"),
    ("npu_deep_norm", (X, X, torch.ones(4), W), "beta has gamma's shape"),
    ("npu_layer_norm_eval", (X.double(), [8]), "float16, bfloat16"),
    ("npu_layer_norm_eval", (X, []), "at least one axis"),
    ("npu_layer_norm_eval", (X, [1, 2, 8]), "no more axes"),
    ("npu_layer_norm_eval", (X, [4]), "last axes"),
    ("npu_layer_norm_eval", (X, [8], torch.ones(4)), "weight has"),
    ("npu_layer_norm_eval", (X, [8], None, torch.ones(4)), "bias has"),
    ("npu_add_rms_norm_v2", (X.double(), X.double(), W.double()), "x1 is float16"),
    ("npu_add_rms_norm_v2", (ROW, ROW, W), "x1 has at least 1"),
    ("npu_add_rms_norm_v2", (NINE, NINE, torch.ones(1)), "at most 8"),
    ("npu_add_rms_norm_v2", (torch.empty(0, 8), torch.empty(0, 8), W), "not empty"),
    ("npu_add_rms_norm_v2", (ODD, X, W), "x1 is contiguous"),
    ("npu_add_rms_norm_v2", (X, X.half(), W), "x2 has x1's dtype"),
    ("npu_add_rms_norm_v2", (X, X[:1], W), "x2 has x1's shape"),
    ("npu_add_rms_norm_v2", (X, ODD, W), "x2 is contiguous"),
    ("npu_add_rms_norm_v2", (H, H, W), "gamma has x1's dtype"),
    ("npu_add_rms_norm_v2", (X, X, ROW), "gamma has at least 1"),
    ("npu_add_rms_norm_v2", (X, X, torch.ones(1, 2, 8)), "no more axes"),
    ("npu_add_rms_norm_v2", (X, X, torch.ones(4)), "last axes"),
    ("npu_add_rms_norm_v2", (X, X, ODD), "gamma is contiguous"),
    ("npu_add_rms_norm_cast", (X, X, W), "x1 is float16 or bfloat16"),
    ("npu_add_rms_norm_cast", (ROW.half(), ROW.half(), V), "x1 has at least 1"),
    ("npu_add_rms_norm_cast", (NINE.half(), NINE.half(), V), "at most 8"),
    ("npu_add_rms_norm_cast", (H[:0], H[:0], V), "not empty"),
    ("npu_add_rms_norm_cast", (H, X.bfloat16(), V), "x2 has x1's dtype"),
    ("npu_add_rms_norm_cast", (H, H[:1], V), "x2 has x1's shape"),
    ("npu_add_rms_norm_cast", (H, H, W), "gamma has x1's dtype"),
    ("npu_add_rms_norm_cast", (H, H, ROW.half()), "gamma has at least 1"),
    ("npu_add_rms_norm_cast", (H, H, H[None]), "no more axes"),
    ("npu_add_rms_norm_cast", (H, H, V[:4]), "last axes"),
]


@pytest.mark.parametrize("name, arguments, text", BROKEN)
def test_limit(name, arguments, text):
    assert text in refused(name, arguments)[1]


@pytest.mark.parametrize("name", sorted({row[0] for row in BROKEN}))
def test_every_limit_is_met(name):
    assert never_met(name, [(row[1],) for row in BROKEN if row[0] == name]) == []


def test_limits_take_a_large_group_without_gradients():
    large = LARGE.detach()
    npu.npu_group_norm_swish(large, 1, large[0], large[0])
