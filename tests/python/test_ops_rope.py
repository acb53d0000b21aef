"""The rotary operators of ops/: values, gradients, dtypes, limits.

What is expected comes from complex numbers or from loops written here in
float64; never from the code under test.
"""
import pytest
import torch

from opslimits import never_met, refused
from opsvalues import FLOATS, close, is_silent, npu, raises_backward


def turned(x, angle, pairs):
    """Each pair (a, b) of x's last axis, as a + ib, times e^(i angle).

    `angle` has half of x's last axis; `pairs` lists the pairs' places.
    """
    first = torch.tensor([a for a, _ in pairs])
    second = torch.tensor([b for _, b in pairs])
    z = torch.complex(x[..., first].double(), x[..., second].double())
    z = z * torch.exp(1j * angle.double())
    place = torch.argsort(torch.cat([first, second]))
    return torch.cat([z.real, z.imag], -1)[..., place]


def pairs(mode, width):
    if mode == "half":
        return [(i, i + width // 2) for i in range(width // 2)]
    return [(i, i + 1) for i in range(0, width, 2)]


def spread(angle, mode):
    """The angle of each place of the last axis."""
    if mode == "half":
        return torch.cat([angle, angle], -1)
    return angle.repeat_interleave(2, -1)


SHAPES = [  # of the input, and of cos and sin but for the last axis
    ((2, 3, 5, 8), (1, 1, 5)),  # BNSD
    ((2, 5, 3, 8), (1, 5, 1)),  # BSND
    ((5, 2, 3, 8), (5, 1, 1)),  # SBND
    ((5, 3, 8), (5, 1)),  # TND
]
WIDER = [  # rotary_mode half only
    ((2, 3, 5, 8), (2, 1, 5)),
    ((2, 5, 3, 8), (2, 5, 1)),
    ((2, 3, 5, 8), (2, 3, 5)),
    ((5, 3, 8), (5, 3)),
]
MODES = [("half", s) for s in SHAPES + WIDER] + [("interleave", s) for s in SHAPES]


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("mode, shapes", MODES)
def test_rotary_mul(mode, shapes, dtype):
    shape, rows = shapes
    x = torch.randn(shape).to(dtype).requires_grad_()
    wide = x.detach().double().requires_grad_()
    angle = torch.rand(rows + (shape[-1] // 2,))
    cos, sin = (f(spread(angle, mode)).to(dtype) for f in (torch.cos, torch.sin))
    y = npu.npu_rotary_mul(x, cos, sin, mode)
    expected = turned(wide, angle, pairs(mode, shape[-1]))
    assert y.dtype == dtype and y.shape == shape
    close(y, expected)
    weight = torch.randn(shape).to(dtype)
    y.backward(weight)
    expected.backward(weight.double())
    assert x.grad.dtype == dtype
    close(x.grad, wide.grad)


def test_rotary_mul_gives_gradients_to_cos_and_sin():
    x = torch.randn(2, 3, 5, 8)
    cos = torch.randn(1, 1, 5, 8, requires_grad=True)
    sin = torch.randn(1, 1, 5, 8, requires_grad=True)
    npu.npu_rotary_mul(x, cos, sin).sum().backward()
    close(cos.grad, x.sum((0, 1), keepdim=True))
    other = torch.cat([-x[..., 4:], x[..., :4]], -1)
    close(sin.grad, other.sum((0, 1), keepdim=True))


def test_rotary_mul_rounds_cos_and_sin_to_the_input():
    x = torch.randn(2, 3, 5, 64).bfloat16()
    angle = torch.rand(1, 1, 5, 32)
    cos, sin = (f(spread(angle, "half")) for f in (torch.cos, torch.sin))
    y = npu.npu_rotary_mul(x, cos, sin)
    assert y.dtype == torch.bfloat16
    assert torch.equal(y, npu.npu_rotary_mul(x, cos.bfloat16(), sin.bfloat16()))
    once = turned(x, angle, pairs("half", 64)).bfloat16()
    assert not torch.equal(y, once)


def test_rotary_mul_by_a_matrix():
    x, angle = torch.randn(2, 3, 5, 8), torch.rand(1, 1, 5, 4)
    cos, sin = (f(spread(angle, "interleave")) for f in (torch.cos, torch.sin))
    matrix = torch.zeros(8, 8)
    for i in range(0, 8, 2):  # (a, b) becomes (-b, a)
        matrix[i + 1, i], matrix[i, i + 1] = -1, 1
    y = npu.npu_rotary_mul(x, cos, sin, rotate=matrix)
    close(y, turned(x, angle, pairs("interleave", 8)))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("layout, rows", (("BSND", (2, 5)), ("TND", (7,))))
def test_apply_rotary_pos_emb(layout, rows, dtype):
    query = torch.randn(rows + (4, 64)).to(dtype)
    key = torch.randn(rows + (2, 64)).to(dtype)
    angle = torch.rand(rows + (1, 32))
    cos, sin = (f(spread(angle, "half")).to(dtype) for f in (torch.cos, torch.sin))
    expected = [turned(x, angle, pairs("half", 64)) for x in (query, key)]
    results = npu.npu_apply_rotary_pos_emb(query, key, cos, sin, layout)
    for result, given, wanted in zip(results, (query, key), expected):
        assert result.dtype == dtype
        close(given, wanted)  # written over
        assert result.data_ptr() == given.data_ptr() and torch.equal(result, given)


def test_apply_rotary_pos_emb_has_no_backward():
    key, row = torch.randn(1, 2, 1, 64), torch.ones(1, 2, 1, 64)
    raises_backward(
        lambda q: npu.npu_apply_rotary_pos_emb(q, key, row, row),
        torch.randn(1, 2, 3, 64),
    )


@pytest.mark.parametrize("dtype", FLOATS[1:], ids=str)
@pytest.mark.parametrize("length", (1, 5))
def test_interleave_rope(length, dtype):
    """Neighbours are turned as of rotary_mode interleave; the result in halves."""
    x, angle = torch.randn(2, 3, 5, 64).to(dtype), torch.rand(2, 1, length, 32)
    cos, sin = (f(spread(angle, "half")).to(dtype) for f in (torch.cos, torch.sin))
    y = npu.npu_interleave_rope(x, cos, sin)
    expected = turned(x, angle, pairs("interleave", 64))
    assert y.dtype == dtype
    close(y, torch.cat([expected[..., ::2], expected[..., 1::2]], -1))
    raises_backward(lambda t: npu.npu_interleave_rope(t, cos, sin), x)


def table(rows, width, dtype):
    angle = torch.rand(rows, width // 2)
    return angle, torch.cat([angle.cos(), angle.sin()], -1).to(dtype)


def by_token(x, angle, head_size, mode):
    """Each head of each token on its own; what is past the angles stays."""
    y = x.double().clone()
    width = 2 * angle.shape[-1]
    for t in range(x.shape[0]):
        for start in range(0, x.shape[1], head_size):
            part = slice(start, start + width)
            y[t, part] = turned(y[t, part], angle[t], pairs(mode, width))
    return y


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("width", (32, 64))
@pytest.mark.parametrize("mode", ("half", "interleave"))
@pytest.mark.parametrize("section", (None, [0, 0, 0]))
def test_mrope_of_text(section, mode, width, dtype):
    positions = torch.tensor([0, 3, 3, 8, 1], dtype=torch.int32)
    query, key = torch.randn(5, 192).to(dtype), torch.randn(5, 64).to(dtype)
    angle, cache = table(9, width, dtype)
    results = npu.npu_mrope(positions, query, key, cache, 64,
                            mrope_section=section, rotary_mode=mode)
    for result, given in zip(results, (query, key)):
        assert result.dtype == dtype
        close(result, by_token(given, angle[positions.long()], 64, mode))


SECTIONS = [
    ([16, 24, 24], "default"), ([24, 20, 20], "default"), ([8, 12, 12], "default"),
    ([16, 16, 16, 16], "default"), ([24, 20, 20], "interleave"),
    ([8, 12, 12], "interleave"),
]


@pytest.mark.parametrize("mode", ("half", "interleave"))
@pytest.mark.parametrize("section, cache_mode", SECTIONS)
def test_mrope_of_images(section, cache_mode, mode):
    width = 2 * sum(section)
    positions = torch.randint(0, 9, (len(section), 5))
    query, key = torch.randn(5, 256), torch.randn(5, 128)
    angle, cache = table(9, width, torch.float32)
    source = [part for part, size in enumerate(section) for _ in range(size)]
    if cache_mode == "interleave":
        last = 3 * section[1]
        source = [i % 3 if i < last else 0 for i in range(width // 2)]
    mixed = torch.stack([
        torch.stack([angle[positions[source[i], t], i] for i in range(width // 2)])
        for t in range(5)
    ])
    results = npu.npu_mrope(positions, query, key, cache, 128, mrope_section=section,
                            rotary_mode=mode, cache_mode=cache_mode)
    for result, given in zip(results, (query, key)):
        close(result, by_token(given, mixed, 128, mode))


def test_mrope_has_no_gradient():
    cache = table(9, 32, torch.float32)[1]
    positions, key = torch.tensor([1, 2]), torch.randn(2, 32)
    is_silent(lambda q: npu.npu_mrope(positions, q, key, cache, 32), torch.randn(2, 64))


X, R = torch.randn(2, 3, 5, 8), torch.randn(1, 1, 5, 8)
LONG = torch.ones(1, 1001, 1, 2)
ROTARY = [
    ((X.double(), R, R), "the input is float16"),
    ((X, R.double(), R), "cos is float16"),
    ((X, R, R.double()), "sin is float16"),
    ((X[0, 0], R[0, 0], R[0, 0]), "3 or 4 dimensions"),
    ((X, R[0], R[0]), "as many dimensions"),
    ((X, R, R[..., :4]), "shape of cos"),
    ((X, R[..., :4], R[..., :4]), "as wide as"),
    ((X[..., :7], R[..., :7], R[..., :7]), "even"),
    ((torch.ones(1, 1, 1, 896),) + (torch.ones(1, 1, 1, 896),) * 2, "narrower than"),
    ((X, R[:, :, :4], R[:, :, :4]), "broadcast to the input"),
    ((X, R.expand(3, 1, 5, 8), R.expand(3, 1, 5, 8)), "broadcast to the input"),
    ((X, R.expand(1, 2, 5, 8), R.expand(1, 2, 5, 8)), "broadcast to the input"),
    ((X, R.expand(1, 3, 5, 8), R.expand(1, 3, 5, 8)), "varies with the batch"),
    ((X[0], R[0], R[0]), "row for each token"),
    ((LONG, LONG[:, :1], LONG[:, :1]), "shorter than 1000"),
    ((LONG.transpose(0, 1), LONG[:, :1], LONG[:, :1]), "shorter than 1000"),
    ((LONG.transpose(1, 2), LONG[:, :1], LONG[:, :1]), "shorter than 1000"),
    ((X, R, R, "quarter"), "half or interleave"),
    ((X, R.expand(2, 1, 5, 8), R.expand(2, 1, 5, 8), "interleave"), "along one axis"),
    (
        (torch.ones(40, 25, 1, 2),) + (torch.ones(1, 1, 1, 2),) * 2 + ("interleave",),
        "below 1000",
    ),
    ((X, R, R, "half", torch.eye(8).double()), "rotate is float16"),
    ((X, R, R, "half", torch.ones(8)), "rotate has 2"),
    ((X, R, R, "half", torch.ones(4, 8)), "rotate is as wide"),
    ((X, R, R, "half", torch.ones(8, 4)), "rotate is square"),
    ((X.clone().requires_grad_(), R, R, "half", torch.eye(8)), "needs no gradient"),
]


Q, K, C = torch.randn(2, 5, 3, 64), torch.randn(2, 5, 1, 64), torch.ones(2, 5, 1, 64)
NARROW = (torch.ones(2, 5, 3, 32), torch.ones(2, 5, 1, 32), torch.ones(2, 5, 1, 32))
APPLY = [
    ((Q.double(), K, C, C), "query is float16"),
    ((Q, K.half(), C, C), "key has query's dtype"),
    ((Q, K, C.half(), C), "cos has query's dtype"),
    ((Q, K, C, C.half()), "sin has query's dtype"),
    ((Q, K, C, C, "BNSD"), "BSND or TND"),
    ((Q[None], K, C, C), "3 or 4"),
    ((Q[0], K[0], C[0], C[0]), "3 dimensions as TND"),
    ((Q[:0], K[:0], C[:0], C[:0]), "query is not empty"),
    ((Q, K[:0], C, C), "key is not empty"),
    ((Q, K[0], C, C), "key has as many"),
    ((Q, K[:1], C, C), "key has query's batch"),
    ((Q, K[..., :32], C, C), "as wide as query's"),
    (NARROW + NARROW[-1:], "64 or 128"),
    ((Q, K, C[0], C), "cos has as many"),
    ((Q, K, C[:1], C), "cos has query's batch"),
    ((Q, K, torch.ones(2, 5, 3, 64), C), "cos has one head"),
    ((Q, K, C[..., :32], C), "cos is as wide"),
    ((Q, K, C, C[..., :32]), "shape of cos"),
    ((Q, K, C, C, "BSND", "interleave"), "rotary_mode is half"),
]
B, D = torch.randn(2, 3, 5, 64).half(), torch.ones(2, 1, 5, 64).half()
LINED = torch.ones(2, 1, 64, 5).half().transpose(2, 3)
INTERLEAVE = [
    ((B.float(), D, D), "x is float16 or"),
    ((B[0], D, D), "x has 4"),
    ((B[..., :32], D, D), "64 elements"),
    ((B.transpose(1, 2), D, D), "x is contiguous"),
    ((B, D.float(), D), "cos has x's dtype"),
    ((B, D[0], D), "cos has 4"),
    ((B, D[:1], D), "batch size"),
    ((B, B, D), "one head"),
    ((B, D[:, :, :3], D), "x's length, or 1"),
    ((B, D[..., :32], D), "64 columns"),
    ((B, LINED, D), "cos is contiguous"),
    ((B, D, D.float()), "sin has cos's dtype"),
    ((B, D, D[..., :32]), "sin has cos's shape"),
    ((B, D, LINED), "sin is contiguous"),
]
P, T, S = torch.tensor([0, 1]), torch.ones(2, 64), torch.ones(4, 32)
P3, W = torch.zeros(3, 2, dtype=torch.int64), torch.ones(4, 64)
SECTION = {"mrope_section": [8, 12, 12]}
MROPE = [
    ((P.float(), T, T, S, 32), {}, "int32 or int64"),
    ((P3[None], T, T, S, 32), {}, "1 or 2 dim"),
    ((P, T.double(), T, S, 32), {}, "query is float16"),
    ((P, T[0], T, S, 32), {}, "query has 2"),
    ((P, T[:1], T, S, 32), {}, "one position a token"),
    ((P, T[:, :48], T, S, 32), {}, "query has whole"),
    ((P, T, T.half(), S, 32), {}, "key has query's dtype"),
    ((P, T, T[0], S, 32), {}, "key has 2"),
    ((P, T, T[:1], S, 32), {}, "key has query's tokens"),
    ((P, T, T[:, :48], S, 32), {}, "key has whole"),
    ((P, T, T, S.half(), 32), {}, "cos_sin_cache has query's"),
    ((P, T, T, S[0], 32), {}, "cos_sin_cache has 2"),
    ((P, T, T, W, 32), {}, "no wider than a head"),
    ((P, T[:, :24], T[:, :24], S[:, :16], 24), {}, "head_size is a multiple of 16"),
    ((P, T.half(), T.half(), S.half()[:, :16], 16), {}, "head_size of a half"),
    ((P, T, T, S[:, :24], 32), {}, "width is a multiple of 16"),
    ((P, T.half(), T.half(), S.half()[:, :16], 32), {}, "width of a half"),
    ((P3, T, T, S, 32), {}, "without mrope_section positions"),
    ((P, T, T, S, 32), {"cache_mode": "interleave"}, "takes an mrope_section"),
    ((P3, T, T, W, 64), {"mrope_section": [12, 10, 10]}, "one of those documented"),
    ((P, T, T, W, 64), SECTION, "with mrope_section positions"),
    ((P3, T, T, W, 64), {"mrope_section": [0, 0, 0]}, "without mrope_section pos"),
    ((P3[:2], T, T, W, 64), SECTION, "a row for each part"),
    ((P3, T, T, S, 32), SECTION, "half the width"),
    (
        (P, T, T, W, 64),
        {"mrope_section": [0, 0, 0], "cache_mode": "interleave"},
        "takes an mrope_section",
    ),
    ((P, T, T, S, 32), {"rotary_mode": "interleaved"}, "rotary_mode is half"),
    ((P, T, T, S, 32), {"cache_mode": "other"}, "cache_mode is default"),
]
BROKEN = [("npu_rotary_mul", a, {}, text) for a, text in ROTARY]
BROKEN += [("npu_apply_rotary_pos_emb", a, {}, text) for a, text in APPLY]
BROKEN += [("npu_interleave_rope", a, {}, text) for a, text in INTERLEAVE]
BROKEN += [("npu_mrope",) + row for row in MROPE]


@pytest.mark.parametrize("name, arguments, keywords, text", BROKEN)
def test_limit(name, arguments, keywords, text):
    assert text in refused(name, arguments, keywords)[1]


@pytest.mark.parametrize("name", sorted({row[0] for row in BROKEN}))
def test_every_limit_is_met(name):
    assert never_met(name, [row[1:3] for row in BROKEN if row[0] == name]) == []
