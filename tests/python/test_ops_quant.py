"""The operators of ops/ that round to int8, and the cache of MLA: values, limits.

What is expected comes from loops over rows written here in float64, or from
torch.nn.functional; never from the code under test.
"""
import pytest
import torch
import torch.nn.functional as F

from opslimits import never_met, refused
from opsvalues import close, is_silent, npu

HALF = (torch.float16, torch.bfloat16)
SHAPES = [((4, 8), (8,)), ((5, 2, 3, 4), (3, 4)), ((8,), (8,))]


def int8(y):
    return y.round().clamp(-128, 127)


def one_off(actual, expected):
    """int8 beside what it rounds: the last place alone may differ, and rarely."""
    assert actual.dtype == torch.int8 and actual.shape == expected.shape
    apart = (actual.double() - int8(expected)).abs()
    assert apart.max() <= 1 and (apart > 0).double().mean() < 0.02


@pytest.mark.parametrize("dtype", HALF, ids=str)
@pytest.mark.parametrize("shape, normal", [((4, 8), (8,)), ((2, 3, 8), (1, 8)), ((8,), (1, 8))])
def test_rms_norm_quant(shape, normal, dtype):
    x, gamma, beta = (torch.randn(s).to(dtype) for s in (shape, normal, normal))
    scale, offset = torch.tensor([0.0625], dtype=dtype), torch.tensor([3], dtype=torch.int8)
    y = npu.npu_rms_norm_quant(x, gamma, beta, scale, offset, 1e-3)
    norm = F.rms_norm(x.double(), (8,), gamma.double().flatten(), 1e-3)
    one_off(y, (norm + beta.double().flatten()) / 0.0625 + 3)
    assert not y.requires_grad


def test_rms_norm_quant_of_what_does_not_fit():
    x, zero = torch.ones(1, 2).half(), torch.zeros(1, dtype=torch.int8)
    gamma = torch.tensor([100.0, -100.0]).half()
    y = npu.npu_rms_norm_quant(x, gamma, gamma * 0, torch.full((1,), 0.5).half(), zero)
    assert y.tolist() == [[127, -128]]
    beta = torch.tensor([float("nan"), 0.0]).half()
    y = npu.npu_rms_norm_quant(x, gamma * 0, beta, torch.ones(1).half(), zero)
    assert y.tolist() == [[0, 0]]


def quant_inputs(shape, normal, dtype):
    """x1, x2, gamma, scales, zero points, as the dtypes go together."""
    scales = torch.float32 if dtype == torch.float16 else dtype
    points = torch.int32 if dtype == torch.float16 else dtype
    return (
        torch.randn(shape).to(dtype), torch.randn(shape).to(dtype),
        torch.randn(normal).to(dtype), (torch.rand(normal) / 16 + 0.02).to(scales),
        torch.randint(-9, 9, normal).to(points),
    )


@pytest.mark.parametrize("dtype", HALF, ids=str)
@pytest.mark.parametrize("div_mode", (True, False))
@pytest.mark.parametrize("shape, normal", SHAPES)
def test_add_rms_norm_quant(shape, normal, div_mode, dtype):
    x1, x2, gamma, scales, points = quant_inputs(shape, normal, dtype)
    beta = torch.randn(normal).to(dtype)
    if not div_mode:
        scales = (1 / scales.float()).to(scales.dtype)
    y1, y2, total = npu.npu_add_rms_norm_quant(
        x1, x2, gamma, scales, None, beta, scales * 2, points, epsilon=1e-3,
        div_mode=div_mode,
    )
    s = x1.double() + x2.double()
    norm = F.rms_norm(s, normal, gamma.double(), 1e-3) + beta.double()
    factor = 1 / scales.double() if div_mode else scales.double()
    half = 0.5 if div_mode else 2.0
    one_off(y1, norm * factor)
    one_off(y2, norm * factor * half + points.double())
    assert torch.equal(total, s.to(dtype))


def test_add_rms_norm_quant_of_one_output():
    x1, x2, gamma, scales, points = quant_inputs((4, 8), (8,), torch.float16)
    y1, y2, _ = npu.npu_add_rms_norm_quant(x1, x2, gamma, scales, points)
    norm = F.rms_norm(x1.double() + x2.double(), (8,), gamma.double(), 1e-6)
    one_off(y1, norm / scales.double() + points.double())
    assert y2.shape == y1.shape and y2.dtype == torch.int8


def dynamic(y):
    """Each row by its own maximum: what is rounded, and the scale."""
    rows = [(row / (row.abs().max() / 127), row.abs().max() / 127) for row in y]
    return torch.stack([r for r, _ in rows]), torch.stack([s for _, s in rows])


@pytest.mark.parametrize("dtype", HALF, ids=str)
@pytest.mark.parametrize("smooth", (0, 1, 2))
def test_add_rms_norm_dynamic_quant(smooth, dtype):
    x1, x2, gamma, beta = (torch.randn(s).to(dtype) for s in ((5, 8), (5, 8), 8, 8))
    given = [torch.rand(8).to(dtype) + 0.5 if i < smooth else None for i in range(2)]
    y1, y2, total, scale1, scale2 = npu.npu_add_rms_norm_dynamic_quant(
        x1, x2, gamma, smooth_scale1=given[0], smooth_scale2=given[1], beta=beta,
        epsilon=1e-3,
    )
    s = x1.double() + x2.double()
    norm = F.rms_norm(s, (8,), gamma.double(), 1e-3) + beta.double()
    assert torch.equal(total, s.to(dtype))
    for y, scale, factor in ((y1, scale1, given[0]), (y2, scale2, given[1])):
        if y is y2 and smooth < 2:
            assert y.shape == scale.shape == ()
            continue
        wanted, by_row = dynamic(norm if factor is None else norm * factor.double())
        one_off(y, wanted)
        assert scale.dtype == torch.float32 and scale.shape == (5,)
        close(scale, by_row)


def test_add_rms_norm_dynamic_quant_of_the_outputs_asked_for():
    x, gamma = torch.randn(2, 3, 8).half(), torch.ones(8).half()
    given = npu.npu_add_rms_norm_dynamic_quant(x, x, gamma, output_mask=[False, True])
    y1, y2, _, scale1, scale2 = given
    assert y1.shape == scale1.shape == () and y2.shape == x.shape
    assert scale2.shape == (2, 3)
    zero = npu.npu_add_rms_norm_dynamic_quant(x * 0, x * 0, gamma)
    assert (zero[0] == 0).all() and (zero[3] == 1).all()


def swiglu(x, left):
    first, second = x.double().chunk(2, -1)
    return F.silu(first) * second if left else first * F.silu(second)


@pytest.mark.parametrize("left", (False, True))
@pytest.mark.parametrize("kind", (0, 1))
@pytest.mark.parametrize("mode", (0, 1))
def test_swiglu_quant_of_groups(mode, kind, left):
    x = torch.randn(7, 12)
    counts = [2, 0, 4]
    ends = [2, 2, 6]
    groups = torch.tensor(counts if kind else ends, dtype=torch.int32)
    scales, offsets = torch.rand(3, 6) * 20, torch.randn(3, 6)
    y, scale = npu.npu_swiglu_quant(
        x, smooth_scales=scales, offsets=offsets if mode == 0 else None,
        group_index=groups, activate_left=left, quant_mode=mode, group_list_type=kind,
    )
    assert scale.dtype == torch.float32 and scale.shape == (7,)
    out = swiglu(x, left)
    for t in range(7):
        if t >= 6:
            assert (y[t] == 0).all() and scale[t].isnan()
            continue
        g = 0 if t < 2 else 2
        row = out[t] * scales[g].double()
        if mode == 0:
            one_off(y[t], row + offsets[g].double())
            assert scale[t].isnan()
        else:
            one_off(y[t], row * (127 / row.abs().max()))
            close(scale[t], 127 / row.abs().max(), 1e-4)


@pytest.mark.parametrize("dtype", (torch.float32,) + HALF, ids=str)
def test_swiglu_quant_activates_the_right_half_by_default(dtype):
    x = torch.randn(2, 3, 8).to(dtype)
    y, scale = npu.npu_swiglu_quant(x, quant_mode=1)
    assert y.shape == (2, 3, 4) and scale.shape == (2, 3)
    out = swiglu(x, False)
    one_off(y, out * 127 / out.abs().amax(-1, keepdim=True))
    per_tensor = npu.npu_swiglu_quant(
        x, smooth_scales=torch.tensor([30.0]), offsets=torch.tensor([2.0])
    )[0]
    one_off(per_tensor, out * 30 + 2)


def clipped(x, left, mode):
    x = x.double()
    if mode == 1:
        gate, up = x[:, ::2], x[:, 1::2]
    else:
        gate, up = x.chunk(2, -1) if left else reversed(x.chunk(2, -1))
    gate, up = gate.clamp(max=2.0), up.clamp(-2.0, 2.0)
    return gate * torch.sigmoid(0.9 * gate) * (up + 0.5)


CLIP = {"clamp_limit": 2.0, "glu_alpha": 0.9, "glu_bias": 0.5}


@pytest.mark.parametrize("left", (False, True))
@pytest.mark.parametrize("mode", (0, 1, 2))
def test_dequant_swiglu_quant_of_int32(mode, left):
    x = torch.randint(-900, 900, (5, 12), dtype=torch.int32)
    weight, on = torch.rand(12) / 100, torch.rand(5, 1)
    bias = torch.randint(-90, 90, (12,), dtype=torch.int32)
    smooth = torch.rand(6) + 0.5
    y, scale = npu.npu_dequant_swiglu_quant(
        x, weight_scale=weight, activation_scale=on, bias=bias, quant_scale=smooth,
        activate_left=left, quant_mode=1, swiglu_mode=mode, **CLIP,
    )
    real = (x + bias).double() * weight.double() * on.double()
    out = (swiglu(real, left) if mode == 0 else clipped(real, left, mode))
    wanted, by_row = dynamic(out * smooth.double())
    one_off(y, wanted)
    assert scale.dtype == torch.float32 and scale.shape == (5,)
    close(scale, by_row)


@pytest.mark.parametrize("dtype", HALF, ids=str)
def test_dequant_swiglu_quant_of_a_half_type(dtype):
    x = torch.randn(4, 12).to(dtype)
    out = swiglu(x, False)
    y, scale = npu.npu_dequant_swiglu_quant(x, quant_mode=1)
    one_off(y, dynamic(out)[0])
    close(scale, dynamic(out)[1])
    scale, offset = torch.tensor([0.02]), torch.tensor([1.0])
    y, none = npu.npu_dequant_swiglu_quant(x, quant_scale=scale, quant_offset=offset)
    one_off(y, out / scale.double() + 1)
    assert (none == 0).all()


@pytest.mark.parametrize("mode", (0, 1))
def test_dequant_swiglu_quant_of_groups(mode):
    x = torch.randint(-900, 900, (6, 128), dtype=torch.int32)
    weight, on = torch.rand(3, 128) / 100, torch.rand(6, 1)
    smooth = torch.rand(3, 64) / 9 + 0.05
    y, scale = npu.npu_dequant_swiglu_quant(
        x, weight_scale=weight, activation_scale=on, quant_scale=smooth,
        group_index=torch.tensor([1, 0, 4]), quant_mode=mode,
    )
    for t, g in enumerate((0, 2, 2, 2, 2)):
        real = x[t : t + 1].double() * weight[g].double() * on[t].double()
        out = swiglu(real, False)
        if mode == 0:
            one_off(y[t : t + 1], out / smooth[g].double())
        else:
            one_off(y[t : t + 1], dynamic(out * smooth[g].double())[0])
    assert (y[5] == 0).all() and scale.shape == (6,)


def test_scales_carry_no_gradient():
    x = torch.randn(2, 8)
    is_silent(lambda t: npu.npu_swiglu_quant(t, quant_mode=1)[1], x)
    is_silent(lambda t: npu.npu_dequant_swiglu_quant(t, quant_mode=1)[1], x.half())


def turned(x, cos, sin):
    """Neighbours turned, in two halves; one token, in plain Python."""
    half = len(x) // 2
    y = [x[2 * i] * cos[i] - x[2 * i + 1] * sin[i] for i in range(half)]
    y += [x[2 * i + 1] * cos[half + i] + x[2 * i] * sin[half + i] for i in range(half)]
    return torch.stack(y)


def cache_inputs(dtype, quantised, with_v, cache_mode):
    batch, length, block = 2, 5, 4
    width, ckv, k = (192, 128, 192) if with_v else (576, 512, 64)
    store = torch.int8 if quantised else dtype
    if cache_mode == "Norm":
        shape = (batch, 1, 9)
        index = torch.stack([torch.randperm(9)[:length] for _ in range(batch)])
        index[1, 2] = -1
    else:
        shape = (6, block, 1)
        if "BLK" in cache_mode:
            index = torch.tensor([2, 0, -1, 5]) * block
        else:
            index = torch.randperm(6 * block)[: batch * length]
            index[3] = -1
    given = {
        "kv": torch.randn(batch, 1, length, width).to(dtype),
        "gamma": torch.randn(192 if with_v else 512).to(dtype),
        "cos": torch.randn(batch, 1, length, 64).to(dtype),
        "sin": torch.randn(batch, 1, length, 64).to(dtype),
        "index": index,
        "k_cache": torch.full(shape + (k,), 9).to(store),
        "ckv_cache": torch.full(shape + (ckv,), 9).to(store),
    }
    more = {"epsilon": 1e-3, "cache_mode": cache_mode, "is_output_kv": True}
    if with_v:
        more["v"] = torch.randn(batch, 1, length, 128).to(dtype)
    if quantised:
        more["k_rope_scale"] = torch.rand(k) * 20
        more["c_kv_scale"] = torch.rand(ckv) * 20
    return given, more


def expected_token(given, more, b, s):
    """What goes into the caches for a token, in float64: k, ckv."""
    x = given["kv"][b, 0, s].double()
    cos, sin = (given[n][b, 0, s].double() for n in ("cos", "sin"))
    gamma = given["gamma"].double()
    if "v" not in more:
        first = F.rms_norm(x[:512], (512,), gamma, 1e-3)
        return turned(x[512:], cos, sin), first
    y = F.rms_norm(x, (192,), gamma, 1e-3)
    return torch.cat([turned(y[:64], cos, sin), y[64:]]), more["v"][b, 0, s].double()


def slot(given, cache_mode, b, s):
    """Block (or batch) and place in it, or None."""
    index, block = given["index"], 4
    if cache_mode == "Norm":
        return None if index[b, s] < 0 else (b, int(index[b, s]))
    if "BLK" not in cache_mode:
        at = int(index[5 * b + s])
        return None if at < 0 else divmod(at, block)
    at = int(index[2 * b + s // block])
    return None if at < 0 else (at // block, s % block)


def in_order(cache, cache_mode, quantised):
    """(blocks, places, width), whatever the layout."""
    if not cache_mode.endswith("NZ"):
        return cache.reshape(cache.shape[0], -1, cache.shape[-1])
    blocks, places, _, width = cache.shape
    stripe = 32 if quantised else 16
    y = torch.zeros(blocks, places, width, dtype=cache.dtype)
    flat = cache.reshape(blocks, -1)
    for c in range(width):
        for p in range(places):
            y[:, p, c] = flat[:, (c // stripe) * places * stripe + p * stripe + c % stripe]
    return y


@pytest.mark.parametrize("cache_mode", ("Norm", "PA", "PA_BNSD", "PA_NZ", "PA_BLK_BNSD",
                                        "PA_BLK_NZ"))
@pytest.mark.parametrize("quantised", (False, True))
@pytest.mark.parametrize("with_v", (False, True))
def test_kv_rmsnorm_rope_cache(with_v, quantised, cache_mode):
    given, more = cache_inputs(torch.bfloat16, quantised, with_v, cache_mode)
    k_cache, ckv_cache, k, ckv = npu.npu_kv_rmsnorm_rope_cache(**given, **more)
    assert k_cache is given["k_cache"] and ckv_cache is given["ckv_cache"]
    caches = [in_order(c, cache_mode, quantised) for c in (k_cache, ckv_cache)]
    touched = torch.zeros(caches[0].shape[:2], dtype=torch.bool)
    for b in range(2):
        for s in range(5):
            wanted = expected_token(given, more, b, s)
            for shown, value in zip((k, ckv), wanted):
                assert shown.dtype == torch.bfloat16
                if cache_mode == "Norm":
                    assert shown.isnan().all()
                else:
                    close(shown[b, 0, s], value)
            at = slot(given, cache_mode, b, s)
            if at is None:
                continue
            touched[at] = True
            for name, cache, value in zip(("k_rope_scale", "c_kv_scale"), caches, wanted):
                if quantised:
                    one_off(cache[at], value * more[name].double())
                else:
                    close(cache[at], value)
    for cache in caches:
        assert (cache[~touched] == 9).all()


X = torch.randn(2, 8).half()
V, ONE = torch.ones(8).half(), torch.ones(1).half()
ZERO = torch.zeros(1, dtype=torch.int8)
ROW, NINE = torch.tensor(1.0).half(), torch.ones([1] * 9).half()
RMS = [
    ((X.float(), V, V, ONE, ZERO), {}, "x is float16 or"),
    ((ROW, V, V, ONE, ZERO), {}, "x has at least 1"),
    ((NINE, V, V, ONE, ZERO), {}, "at most 8"),
    ((X[:0], V, V, ONE, ZERO), {}, "not empty"),
    ((X, V.float(), V, ONE, ZERO), {}, "gamma has x's dtype"),
    ((X, V[None, None], V, ONE, ZERO), {}, "gamma has 1 or 2"),
    ((X, V[:4], V, ONE, ZERO), {}, "gamma is as wide"),
    ((X, X, V, ONE, ZERO), {}, "gamma has one row"),
    ((X, V, V.float(), ONE, ZERO), {}, "beta has x's dtype"),
    ((X, V, V[None, None], ONE, ZERO), {}, "beta has 1 or 2"),
    ((X, V, V[:4], ONE, ZERO), {}, "beta is as wide"),
    ((X, V, X, ONE, ZERO), {}, "beta has one row"),
    ((X, V, V, ONE.float(), ZERO), {}, "scale has x's dtype"),
    ((X, V, V, ROW, ZERO), {}, "scale has 1 dim"),
    ((X, V, V, V, ZERO), {}, "scale has one element"),
    ((X, V, V, ONE, ONE), {}, "offset is int8"),
    ((X, V, V, ONE, ZERO[0]), {}, "offset has scale's shape"),
    ((X, V, V, ONE, ZERO), {"dst_dtype": 3}, "int8 or quint4x2"),
    ((X[:, :4], V[:4], V[:4], ONE, ZERO), {"dst_dtype": 16}, "multiple of 8"),
]
S, Z, BF = V.float(), V.int(), X.bfloat16()
BFV = V.bfloat16()
ADD = [
    ((X.float(), X, V, S, Z), {}, "x1 is float16 or"),
    ((ROW, ROW, V, S, Z), {}, "x1 has at least 1"),
    ((NINE, NINE, V, S, Z), {}, "at most 8"),
    ((X, BF, V, S, Z), {}, "x2 has x1's dtype"),
    ((X, X[:1], V, S, Z), {}, "x2 has x1's shape"),
    ((X, X, S, S, Z), {}, "gamma has x1's dtype"),
    ((X, X, ROW, S, Z), {}, "gamma has at least 1"),
    ((X, X, X[None], S, Z), {}, "no more axes"),
    ((X, X, V[:4], S, Z), {}, "last axes"),
    ((X, X, V, S[:4], Z), {}, "scales1 has gamma's"),
    ((X, X, V, V, Z), {}, "with float16 scales1"),
    ((BF, BF, BFV, S, Z), {}, "with bfloat16 scales1"),
    ((X, X, V, S, Z[:4]), {}, "zero_points1 has gamma's"),
    ((X, X, V, S, S), {}, "with float16 zero_points1"),
    ((BF, BF, BFV, BFV, Z), {}, "with bfloat16 zero_points1"),
    ((X, X, V, S, Z, S), {}, "beta has gamma's dtype"),
    ((X, X, V, S, Z, V[:4]), {}, "beta has gamma's shape"),
    ((X, X, V, S, Z, V, V), {}, "scales2 has scales1's"),
    ((X, X, V, S, Z, V, S[:4]), {}, "scales2 has gamma's"),
    ((X, X, V, S, Z, V, S, Z[:4]), {}, "zero_points2 has gamma's"),
    ((X, X, V, S, Z, V, S, S), {}, "with float16 zero_points2"),
    ((BF, BF, BFV, BFV, BFV, BFV, BFV, Z), {}, "with bfloat16 zero_points2"),
    ((X, X, V, S, Z), {"axis": 0}, "axis is -1"),
    ((X, X, V, S, Z), {"dst_type": 291}, "dst_type is int8"),
]
DYNAMIC = [
    ((X.float(), X, V), {}, "x1 is float16 or"),
    ((X[0], X[0], V), {}, "x1 has at least 2"),
    ((NINE, NINE, V), {}, "at most 8"),
    ((X[:0], X[:0], V), {}, "not empty"),
    ((X, BF, V), {}, "x2 has x1's dtype"),
    ((X, X[:1], V), {}, "x2 has x1's shape"),
    ((X, X, S), {}, "gamma has x1's dtype"),
    ((X, X, X), {}, "gamma has 1 dim"),
    ((X, X, V[:4]), {}, "gamma is as wide"),
    ((X, X, V), {"smooth_scale1": S}, "smooth_scale1 has x1's"),
    ((X, X, V), {"smooth_scale1": X}, "smooth_scale1 has gamma's"),
    ((X, X, V), {"smooth_scale2": S}, "smooth_scale2 has x1's"),
    ((X, X, V), {"smooth_scale2": X}, "smooth_scale2 has gamma's"),
    ((X, X, V), {"beta": S}, "beta has x1's"),
    ((X, X, V), {"beta": X}, "beta has gamma's"),
    ((X, X, V), {"output_mask": [False, False]}, "asks for an output"),
    ((X, X, V), {"output_mask": [False, True], "smooth_scale1": V}, "smooth_scale1 is of"),
    ((X, X, V), {"output_mask": [True, False], "smooth_scale2": V}, "smooth_scale2 is of"),
    ((X, X, V), {"y_dtype": 3}, "int8 or quint4x2"),
    ((X[:, :4], X[:, :4], V[:4]), {"y_dtype": torch.quint4x2}, "multiple of 8"),
]
G, HALVES = torch.tensor([1, 2], dtype=torch.int32), torch.ones(2, 4)
SWIGLU = [
    ((X.double(),), {}, "x is float16"),
    ((X[0],), {}, "at least 2"),
    ((X[:, :7],), {}, "even"),
    ((torch.empty(1, 8194),), {}, "at most 8192"),
    ((X,), {"quant_mode": 2}, "quant_mode is"),
    ((X,), {"group_list_type": 2}, "group_list_type is"),
    ((X,), {"group_index": G.long()}, "group_index is int32"),
    ((X,), {"group_index": G[0]}, "group_index has 1"),
    ((X,), {"smooth_scales": HALVES.half()}, "smooth_scales is float32"),
    ((X,), {"smooth_scales": HALVES[None]}, "smooth_scales has 1 or"),
    ((X,), {"smooth_scales": torch.ones(1, 8)}, "half as wide"),
    ((X,), {"smooth_scales": HALVES}, "smooth_scales has one row"),
    ((X,), {"smooth_scales": HALVES[:1], "group_index": G}, "a row a group"),
    ((X,), {"smooth_scales": HALVES[:1]}, "static scales have"),
    ((X,), {"offsets": HALVES.half()}, "offsets are float32"),
    ((X,), {"offsets": HALVES}, "static offsets have"),
    ((X,), {"offsets": HALVES, "smooth_scales": HALVES[:1]}, "smooth_scales' shape"),
    ((X,), {"dst_type": torch.int32}, "int8 or quint4x2"),
    ((X[:, :6],), {"dst_type": torch.quint4x2}, "multiple of 4"),
]
I, A = torch.ones(2, 8, dtype=torch.int32), torch.ones(2, 1)
WIDE, C = torch.ones(2, 128).half(), torch.tensor([1, 1])
DEQUANT = [
    ((X.float(),), {}, "x is int32"),
    ((X[0],), {}, "x has 2"),
    ((X[:, :7],), {}, "even"),
    ((WIDE,), {"group_index": C.int()}, "group_index is int64"),
    ((WIDE,), {"group_index": C[0]}, "group_index has 1"),
    ((torch.empty(1, 21120).half(),), {"group_index": C}, "at most 20992"),
    ((X,), {"group_index": C}, "multiple of 128"),
    ((WIDE,), {"group_index": C, "bias": I[0]}, "no bias"),
    ((WIDE,), {"group_index": C, "quant_offset": A}, "no quant_offset"),
    ((X,), {"weight_scale": V}, "weight_scale is float32"),
    ((X,), {"weight_scale": S[None, None]}, "weight_scale has 1 or"),
    ((X,), {"weight_scale": S[:4]}, "weight_scale is as wide"),
    ((X,), {"weight_scale": X.float()}, "weight_scale has one row"),
    ((WIDE,), {"weight_scale": WIDE[:1].float(), "group_index": C}, "a row a group"),
    ((I,), {}, "int32 has an"),
    ((X,), {"activation_scale": A}, "only int32 has an act"),
    ((I,), {"activation_scale": A.half()}, "activation_scale is float32"),
    ((I,), {"activation_scale": torch.ones(1, 2)}, "one element a row"),
    ((I,), {"activation_scale": torch.ones(2, 2)}, "one element a row"),
    ((X,), {"bias": I[0]}, "only int32 has a bias"),
    ((I,), {"activation_scale": A, "bias": S}, "bias is int32"),
    ((I,), {"activation_scale": A, "bias": I[0, :4]}, "one element a column"),
    ((X,), {"quant_mode": 2}, "quant_mode is"),
    ((X,), {"quant_scale": Z}, "quant_scale is float32"),
    ((X,), {"quant_scale": V[:4]}, "static quant_scale"),
    ((X,), {"quant_scale": S[None, None, :4]}, "quant_scale has 1 or"),
    ((X,), {"quant_scale": S, "quant_mode": 1}, "or one number"),
    (
        (WIDE,), {"quant_scale": S, "quant_mode": 1, "group_index": C},
        "with groups quant_scale",
    ),
    (
        (WIDE,), {"quant_scale": S[None], "quant_mode": 1, "group_index": C},
        "quant_scale has a row",
    ),
    (
        (WIDE,), {"quant_scale": X.float(), "quant_mode": 1, "group_index": C},
        "half as wide",
    ),
    ((X,), {"quant_offset": S}, "goes with"),
    ((X,), {"quant_scale": S[:4], "quant_offset": V[:4]}, "quant_scale's dtype"),
    ((X,), {"quant_scale": S[:4], "quant_offset": S[:1]}, "quant_scale's shape"),
    ((X,), {"dst_type": 291}, "dst_type is int8"),
    ((X,), {"round_mode": 1}, "round_mode is 0"),
    ((X,), {"activate_dim": 0}, "the last axis"),
    ((X,), {"swiglu_mode": 3}, "swiglu_mode is"),
    ((X,), {"clamp_limit": 0.0}, "above 0"),
]
CACHE = [  # what is changed in a legal call, of each kind
    ("PA", {"kv": lambda t: t.float()}, "kv is float16"),
    ("PA", {"kv": lambda t: t[0]}, "kv has 4"),
    ("PA", {"kv": lambda t: t.expand(2, 2, 5, 576)}, "one head"),
    ("PA", {"kv": lambda t: t[..., :512]}, "576 wide"),
    ("v", {"v": lambda t: t.float()}, "v has kv's dtype"),
    ("v", {"v": lambda t: t[0]}, "v has 4"),
    ("v", {"v": lambda t: t[:1]}, "v has kv's shape"),
    ("v", {"v": lambda t: t[..., :64]}, "128 wide"),
    ("PA", {"gamma": lambda t: t.float()}, "gamma is float16"),
    ("PA", {"gamma": lambda t: t[None]}, "gamma has 1 dim"),
    ("PA", {"gamma": lambda t: t[:64]}, "gamma has 512"),
    ("PA", {"cos": lambda t: t.float()}, "cos is float16"),
    ("PA", {"cos": lambda t: t[0]}, "cos has 4"),
    ("PA", {"cos": lambda t: t[:1]}, "cos has kv's"),
    ("PA", {"cos": lambda t: t[..., :32]}, "64 wide"),
    ("PA", {"sin": lambda t: t.float()}, "sin is float16"),
    ("PA", {"sin": lambda t: t[:1]}, "shape of cos"),
    ("PA", {"cache_mode": lambda t: "BSND"}, "one of those documented"),
    ("PA", {"k_cache": lambda t: t[0]}, "k_cache has 4"),
    ("PA", {"k_cache": lambda t: t[..., :32]}, "k_cache is 64"),
    ("PA", {"ckv_cache": lambda t: t[0]}, "ckv_cache has 4"),
    ("PA", {"ckv_cache": lambda t: t[:1]}, "ckv_cache has k_cache's shape"),
    ("PA", {"ckv_cache": lambda t: t[..., :64]}, "ckv_cache is 512"),
    ("Norm", {n: lambda t: t[:1] for n in ("k_cache", "ckv_cache")}, "a row a batch"),
    ("Norm", {n: lambda t: t.transpose(1, 2) for n in ("k_cache", "ckv_cache")},
     "caches have one head"),
    ("Norm", {n: lambda t: t[:, :, :4] for n in ("k_cache", "ckv_cache")}, "as long as"),
    ("PA", {n: lambda t: t[:3] for n in ("k_cache", "ckv_cache")}, "blocks for all"),
    ("PA", {"index": lambda t: t.int()}, "index is int64"),
    ("PA", {"index": lambda t: t[None]}, "2 dimensions as Norm"),
    ("PA", {"index": lambda t: t[:4]}, "element a token"),
    ("PA_BLK_BNSD", {"index": lambda t: t[:3]}, "element a block"),
    ("PA", {"c_kv_scale": lambda t: torch.ones(512)}, "both scales"),
    ("PA", {n: lambda t: t.float() for n in ("k_cache", "ckv_cache")}, "without scales"),
    ("int8", {"c_kv_scale": lambda t: None}, "both scales"),
    ("int8", {n: lambda t: t.half() for n in ("k_cache", "ckv_cache")}, "with scales"),
    ("int8", {"k_rope_scale": lambda t: t.half()}, "k_rope_scale is float32"),
    ("int8", {"k_rope_scale": lambda t: t[None]}, "k_rope_scale has 1"),
    ("int8", {"k_rope_scale": lambda t: t[:8]}, "k_rope_scale is as wide"),
    ("int8", {"c_kv_scale": lambda t: t.half()}, "c_kv_scale is float32"),
    ("int8", {"c_kv_scale": lambda t: t[None]}, "c_kv_scale has 1"),
    ("int8", {"c_kv_scale": lambda t: t[:8]}, "c_kv_scale is as wide"),
    ("PA", {"ckv_cache": lambda t: t.float()}, "ckv_cache has k_cache's dtype"),
    ("PA", {"k_rope_offset": lambda t: torch.ones(64)}, "k_rope_offset is not"),
    ("PA", {"c_kv_offset": lambda t: torch.ones(512)}, "c_kv_offset is not"),
]


def changed(kind, changes):
    mode = "PA" if kind in ("v", "int8") else kind
    given, more = cache_inputs(torch.float16, kind == "int8", kind == "v", mode)
    call = {**given, **more}
    for name, change in changes.items():
        call[name] = change(call.get(name))
    return call


BROKEN = [("npu_rms_norm_quant",) + row for row in RMS]
BROKEN += [("npu_add_rms_norm_quant",) + row for row in ADD]
BROKEN += [("npu_add_rms_norm_dynamic_quant",) + row for row in DYNAMIC]
BROKEN += [("npu_swiglu_quant",) + row for row in SWIGLU]
BROKEN += [("npu_dequant_swiglu_quant",) + row for row in DEQUANT]
BROKEN += [
    ("npu_kv_rmsnorm_rope_cache", (), changed(kind, changes), text)
    for kind, changes, text in CACHE
]


@pytest.mark.parametrize("name, arguments, keywords, text", BROKEN)
def test_limit(name, arguments, keywords, text):
    assert text in refused(name, arguments, keywords)[1]


@pytest.mark.parametrize("name", sorted({row[0] for row in BROKEN}))
def test_every_limit_is_met(name):
    assert never_met(name, [row[1:3] for row in BROKEN if row[0] == name]) == []


def test_int4_is_not_emulated():
    x = torch.randn(2, 8).half()
    with pytest.raises(AssertionError, match="int4 is not emulated"):
        npu.npu_rms_norm_quant(x, V, V, ONE, ZERO, dst_dtype=torch.quint4x2)
    with pytest.raises(AssertionError, match="int4 is not emulated"):
        npu.npu_add_rms_norm_dynamic_quant(x, x, V, y_dtype=16)
    with pytest.raises(AssertionError, match="int4 is not emulated"):
        npu.npu_swiglu_quant(x, dst_type=torch.quint4x2)
