"""The attention operators of ops/: values, gradients, masks, limits.

What is expected comes from F.scaled_dot_product_attention in float64, or from
loops written here; never from the code under test.
"""
import math

import pytest
import torch
import torch.nn.functional as F

import opstest
from npufuse import emulate

npu = emulate.module()
HALF = (torch.float16, torch.bfloat16)
TOLERANCE = {torch.float32: 2e-5, torch.float16: 4e-3, torch.bfloat16: 3e-2}
CAUSAL = torch.ones(2048, 2048, dtype=torch.bool).triu(1)
PREFIX = torch.cat([CAUSAL, torch.arange(2048).expand(1024, 2048) >= 1024])
LAYOUTS = ("BNSD", "BSND", "BSH", "SBH")
FULL = 2147483647


def close(actual, expected, tolerance=None):
    tolerance = tolerance or TOLERANCE[actual.dtype]
    torch.testing.assert_close(
        actual.double(), expected.double(), rtol=tolerance, atol=tolerance
    )


def heads(batch, count, length, width, dtype=torch.float32):
    return torch.randn(batch, count, length, width).to(dtype)


def lay(x, layout):
    """(B, N, S, D) in a layout."""
    b, n, s, d = x.shape
    if layout == "BNSD":
        return x
    if layout == "BSND":
        return x.permute(0, 2, 1, 3).contiguous()
    if layout == "BSH":
        return x.permute(0, 2, 1, 3).reshape(b, s, n * d)
    return x.permute(2, 0, 1, 3).reshape(s, b, n * d)


def sdpa(q, k, v, visible=None, scale=1.0):
    """In float64; query heads share key heads in blocks."""
    q, k, v = q.double(), k.double(), v.double()
    times = q.shape[1] // k.shape[1]
    k = torch.stack([k] * times, 2).flatten(1, 2)
    v = torch.stack([v] * times, 2).flatten(1, 2)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=visible, scale=scale)


@pytest.mark.parametrize("dtype", (torch.float32,) + HALF, ids=str)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_values_and_gradients(layout, dtype):
    """Grouped heads, a value narrower than the key, no mask."""
    parts = [heads(2, n, s, d, dtype) for n, s, d in ((4, 5, 8), (2, 7, 8), (2, 7, 6))]
    ours = [lay(x, layout).clone().requires_grad_() for x in parts]
    wide = [x.double().requires_grad_() for x in parts]
    out = npu.npu_fusion_attention(*ours, 4, layout, scale=0.3)[0]
    expected = sdpa(*wide, scale=0.3)
    assert out.dtype == dtype
    close(out, lay(expected, layout))
    weight = torch.randn(expected.shape).to(dtype)
    out.backward(lay(weight, layout))
    expected.backward(weight.double())
    for a, b in zip(ours, wide):
        assert a.grad.dtype == dtype
        close(a.grad, lay(b.grad, layout))


def test_seven_results():
    q, k, v = (lay(heads(2, 3, 5, 8), "BSH").requires_grad_() for _ in range(3))
    results = npu.npu_fusion_attention(q, k, v, 3, "BSH", scale=0.25)
    out, top, total, empty, seed, offset, count = results
    assert out.shape == (2, 5, 24) and out.requires_grad
    assert top.shape == total.shape == (2, 3, 5, 8)
    assert top.dtype == total.dtype == torch.float32
    assert empty.shape == (0,) and empty.dtype == q.dtype
    assert (seed, offset, count) == (0, 0, 0)
    assert not top.requires_grad and not total.requires_grad
    scores = torch.einsum(
        "bqnd,bknd->bnqk", q.view(2, 5, 3, 8), k.view(2, 5, 3, 8)
    ) * 0.25
    close(top, scores.amax(-1)[..., None].expand(2, 3, 5, 8), 1e-5)
    lse = scores.logsumexp(-1)
    close(top[..., 0] + total[..., 3].log(), lse, 1e-5)


def test_the_default_scale_is_one():
    q, k, v = (heads(1, 2, 4, 16) for _ in range(3))
    out = npu.npu_fusion_attention(q, k, v, 2, "BNSD")[0]
    close(out, sdpa(q, k, v, scale=1.0))
    assert (out - sdpa(q, k, v, scale=0.25).float()).abs().max() > 0.05


@pytest.mark.parametrize("dtype", (torch.bool, torch.uint8), ids=str)
@pytest.mark.parametrize("shape", [(5, 7), (1, 1, 5, 7), (2, 1, 5, 7), (2, 4, 5, 7)])
@pytest.mark.parametrize("mode", (0, 1))
def test_true_is_masked(mode, shape, dtype):
    mask = torch.rand(shape) < 0.4
    mask[..., 0] = False
    q, k, v = heads(2, 4, 5, 8), heads(2, 4, 7, 8), heads(2, 4, 7, 8)
    out = npu.npu_fusion_attention(
        q, k, v, 4, "BNSD", atten_mask=mask.to(dtype), scale=0.5, sparse_mode=mode
    )[0]
    close(out, sdpa(q, k, v, ~mask, 0.5))


@pytest.mark.parametrize("mode", (1, 2, 3, 4))
def test_without_a_mask_no_mode_counts(mode):
    q, k, v = (heads(1, 2, 6, 8) for _ in range(3))
    out = npu.npu_fusion_attention(
        q, k, v, 2, "BNSD", sparse_mode=mode, pre_tockens=1, next_tockens=0
    )[0]
    close(out, sdpa(q, k, v))


def seen(rows, columns, rule):
    """The visible pairs, one by one."""
    return torch.tensor([[bool(rule(i, j)) for j in range(columns)] for i in range(rows)])


@pytest.mark.parametrize("rows, columns", [(6, 6), (4, 7), (7, 4)])
@pytest.mark.parametrize("mode", (2, 3, 4))
def test_compressed_masks(mode, rows, columns):
    q, k, v = heads(2, 2, rows, 8), heads(2, 2, columns, 8), heads(2, 2, columns, 8)
    corner = columns - rows
    rule = {
        2: lambda i, j: j <= i,
        3: lambda i, j: j <= i + corner,
        4: lambda i, j: i + corner - 2 <= j <= i + corner + 1,
    }[mode]
    visible = seen(rows, columns, rule)
    out = npu.npu_fusion_attention(
        q, k, v, 2, "BNSD", atten_mask=CAUSAL, scale=0.5, sparse_mode=mode,
        pre_tockens=2, next_tockens=1,
    )[0]
    some = visible.any(-1)
    close(out[:, :, some], sdpa(q, k, v, visible, 0.5)[:, :, some])
    if mode == 3:  # corrected by itself: rows that see nothing are zero
        assert some.sum() == min(rows, columns)
        assert (out[:, :, ~some] == 0).all()


@pytest.mark.parametrize("before, after", [(2, 1), (5, -1), (-1, 4), (FULL, 0)])
def test_mode_0_with_a_band(before, after):
    visible = seen(6, 6, lambda i, j: i - before <= j <= i + after)
    q, k, v = (heads(1, 2, 6, 8) for _ in range(3))
    out = npu.npu_fusion_attention(
        q, k, v, 2, "BNSD", atten_mask=~visible, scale=0.5,
        pre_tockens=before, next_tockens=after,
    )[0]
    some = visible.any(-1)
    close(out[:, :, some], sdpa(q, k, v, visible, 0.5)[:, :, some])


@pytest.mark.parametrize("rows, columns, prefix", [(6, 6, [4, 2]), (4, 7, [3, 5])])
def test_prefixes(rows, columns, prefix):
    corner = columns - rows
    visible = torch.stack(
        [seen(rows, columns, lambda i, j: j <= i + corner or j < p) for p in prefix]
    ).unsqueeze(1)
    q, k, v = heads(2, 2, rows, 8), heads(2, 2, columns, 8), heads(2, 2, columns, 8)
    expected = sdpa(q, k, v, visible, 0.5)
    for mode, mask in ((5, ~visible), (6, PREFIX)):
        out = npu.npu_fusion_attention(
            q, k, v, 2, "BNSD", atten_mask=mask, scale=0.5, sparse_mode=mode,
            prefix=prefix,
        )[0]
        close(out, expected)


@pytest.mark.parametrize("mode", (2, 3, 4))
def test_an_inverted_compressed_mask_is_refused(mode):
    q = heads(1, 1, 4, 8)
    with pytest.raises(RuntimeError, match="True where masked"):
        npu.npu_fusion_attention(
            q, q, q, 1, "BNSD", atten_mask=~CAUSAL, sparse_mode=mode
        )


def test_rows_without_a_key():
    """The mean of the values; zero with inner_precise 2, and then no gradient."""
    mask = torch.zeros(3, 4, dtype=torch.bool)
    mask[1] = True
    q, k, v = heads(1, 1, 3, 8), heads(1, 1, 4, 8), heads(1, 1, 4, 8).requires_grad_()
    out = npu.npu_fusion_attention(q, k, v, 1, "BNSD", atten_mask=mask)[0]
    close(out[0, 0, 1], v[0, 0].mean(0))
    out = npu.npu_fusion_attention(
        q, k, v, 1, "BNSD", atten_mask=mask, inner_precise=2
    )[0]
    assert (out[0, 0, 1] == 0).all()
    out[0, 0, 1].sum().backward()
    assert (v.grad == 0).all()


@pytest.mark.parametrize("shape", [(2, 4, 5, 7), (2, 4, 1, 7), (1, 4, 5, 7)])
def test_pse_is_scaled(shape):
    q, k, v = heads(2, 4, 5, 8), heads(2, 4, 7, 8), heads(2, 4, 7, 8)
    pse = torch.randn(shape, requires_grad=True)
    wide = pse.detach().double().requires_grad_()
    out = npu.npu_fusion_attention(q, k, v, 4, "BNSD", pse=pse, scale=0.5)[0]
    expected = sdpa(q, k, v, (wide * 0.5).expand(2, 4, 5, 7), 0.5)
    close(out, expected)
    out.sum(-1).pow(2).sum().backward()
    expected.sum(-1).pow(2).sum().backward()
    close(pse.grad, wide.grad, 1e-4)


def test_sink():
    """One more score per head, whose value is nothing."""
    q, k, v = heads(2, 3, 4, 8), heads(2, 3, 5, 8), heads(2, 3, 5, 8)
    sink = torch.tensor([-0.5, 0.3, 4.0], requires_grad=True)
    out = npu.npu_fusion_attention(q, k, v, 3, "BNSD", sink=sink, scale=0.5)[0]
    scores = torch.einsum("bnqd,bnkd->bnqk", q, k) * 0.5
    more = torch.cat([scores, sink.view(1, 3, 1, 1).expand(2, 3, 4, 1)], -1)
    expected = more.softmax(-1)[..., :-1] @ v
    close(out, expected)
    (ours,) = torch.autograd.grad(out.pow(2).sum(), sink)
    (theirs,) = torch.autograd.grad(expected.pow(2).sum(), sink)
    close(ours, theirs, 1e-4)


def packed(q_ends, kv_ends, total=None):
    total = total or q_ends[-1]
    return (
        torch.randn(total, 4, 8), torch.randn(kv_ends[-1], 2, 8),
        torch.randn(kv_ends[-1], 2, 8),
    )


def each(q, k, v, q_ends, kv_ends, rule, scale):
    """Sequence by sequence; rule(n, rows, columns) gives i, j -> visible."""
    parts, a, c = [], 0, 0
    for n, (b, d) in enumerate(zip(q_ends, kv_ends)):
        one = [x.permute(1, 0, 2)[None] for x in (q[a:b], k[c:d], v[c:d])]
        if b > a:
            visible = seen(b - a, d - c, rule(n, b - a, d - c))
            parts.append(sdpa(*one, visible, scale)[0].permute(1, 0, 2))
        a, c = b, d
    return torch.cat(parts)


PACKED = [
    (0, [3, 5, 9], [3, 9, 14], lambda n, r, c: lambda i, j: True),
    (2, [3, 5, 9], [3, 9, 14], lambda n, r, c: lambda i, j: j <= i),
    (3, [3, 5, 9], [3, 9, 14], lambda n, r, c: lambda i, j: j <= i + c - r),
    # The page's own examples of a query that was cut: the band of the last
    # sequence (6, -2), of the first (4, 1).
    (7, [3, 5], [3, 9], lambda n, r, c: lambda i, j: j <= i + (0, 2)[n]),
    (8, [3, 8, 12], [4, 9, 13], lambda n, r, c: lambda i, j: j <= i + (2, 0, 0)[n]),
]
BANDS = {7: (6, -2), 8: (4, 1)}


@pytest.mark.parametrize("mode, q_ends, kv_ends, rule", PACKED)
def test_tnd(mode, q_ends, kv_ends, rule):
    before, after = BANDS.get(mode, (FULL, FULL))
    q, k, v = (x.requires_grad_() for x in packed(q_ends, kv_ends))
    out, top, total = npu.npu_fusion_attention(
        q, k, v, 4, "TND", atten_mask=CAUSAL if mode else None, scale=0.5,
        pre_tockens=before, next_tockens=after, sparse_mode=mode,
        actual_seq_qlen=q_ends, actual_seq_kvlen=kv_ends, softmax_layout="TND",
    )[:3]
    expected = each(q, k, v, q_ends, kv_ends, rule, 0.5)
    close(out, expected)
    assert top.shape == total.shape == (q_ends[-1], 4, 8)
    for ours, theirs in zip(
        torch.autograd.grad(out.pow(2).sum(), (q, k, v)),
        torch.autograd.grad(expected.pow(2).sum(), (q, k, v)),
    ):
        close(ours, theirs, 1e-4)


def test_tnd_statistics_are_ntd_by_default():
    q, k, v = packed([2, 5], [3, 7])
    given = dict(actual_seq_qlen=[2, 5], actual_seq_kvlen=[3, 7])
    heads_last = npu.npu_fusion_attention(q, k, v, 4, "TND", softmax_layout="TND", **given)
    default = npu.npu_fusion_attention(q, k, v, 4, "TND", **given)
    assert default[1].shape == (5, 4, 8)
    assert torch.equal(default[1].view(4, 5, 8), heads_last[1].permute(1, 0, 2))


def test_tnd_with_empty_and_absent_sequences():
    """A length of 0 in the middle; zeros at the end are left out."""
    q, k, v = packed([2, 2, 5], [3, 3, 7], total=6)
    out = npu.npu_fusion_attention(
        q, k, v, 4, "TND", actual_seq_qlen=[2, 2, 5, 0], actual_seq_kvlen=[3, 3, 7, 0]
    )[0]
    every = lambda n, r, c: lambda i, j: True
    close(out[:5], each(q, k, v, [2, 2, 5], [3, 3, 7], every, 1.0))
    assert out.shape == (6, 4, 8) and (out[5] == 0).all()


X = torch.randn(2, 4, 6, 8)
T = torch.randn(6, 4, 8)
GIVEN = dict(actual_seq_qlen=[6], actual_seq_kvlen=[6])
MASK = torch.zeros(6, 6, dtype=torch.bool)
BROKEN = [
    ((X.double(),) * 3 + (4, "BNSD"), {}, "query is float16"),
    ((X, X.half(), X, 4, "BNSD"), {}, "key has query's dtype"),
    ((X, X, X.half(), 4, "BNSD"), {}, "value has query's dtype"),
    ((X, X, X, 4, "BNDS"), {}, "input_layout is"),
    ((T, T, T, 4, "BNSD"), {}, "BSND and BNSD has 4"),
    ((X, X, X, 4, "BSH"), {}, "TND has 3 axes"),
    ((X, T, X, 4, "BNSD"), {}, "key has as many axes"),
    ((X, X, T, 4, "BNSD"), {}, "value has as many axes"),
    ((X, X, X, 0, "BNSD"), {}, "at least 1"),
    ((X.expand(2, 4, 6, 8).repeat(1, 65, 1, 1),) * 3 + (260, "BNSD"), {}, "at most 256"),
    ((X, X, X, 2, "BNSD"), {}, "query's number of heads"),
    ((X, X, X, 4, "BSND"), {}, "query's number of heads"),
    ((T, T, T, 3, "BSH"), {}, "holds head_num heads"),
    ((torch.ones(1, 1, 2, 769),) * 3 + (1, "BNSD"), {}, "at most 768"),
    ((torch.ones(1, 2, 1538),) * 3 + (2, "BSH"), {}, "at most 768"),
    ((X, X[..., :6], X[..., :6], 4, "BNSD"), {}, "as wide as query's"),
    ((X, X, torch.ones(2, 4, 6, 9), 4, "BNSD"), {}, "no wider"),
    ((X, X, X[:, :, :5], 4, "BNSD"), {}, "key's shape but"),
    ((X, X[:, :3], X[:, :3], 4, "BNSD"), {}, "a multiple"),
    ((T, T[..., :3], T[..., :3], 2, "BSH"), {}, "a multiple"),
    ((X, X[:1], X[:1], 4, "BNSD"), {}, "one batch size"),
    ((T, T[:, :1], T[:, :1], 4, "SBH"), {}, "one batch size"),
    ((X, X, X, 4, "BNSD"), dict(pse=torch.ones(2, 4, 6, 6).half()), "pse has query's"),
    ((X, X, X, 4, "BNSD"), dict(pse=torch.ones(6, 6)), "pse has 4"),
    ((T, T, T, 4, "TND"), dict(pse=X, sparse_mode=7, **GIVEN), "take no pse"),
    ((X, X, X, 4, "BNSD"), dict(padding_mask=MASK), "padding_mask"),
    ((X, X, X, 4, "BNSD"), dict(atten_mask=MASK.float()), "bool or uint8"),
    ((X, X, X, 4, "BNSD"), dict(atten_mask=MASK[None]), "2 or 4 axes"),
    ((T, T, T, 4, "TND"), dict(atten_mask=MASK[None, None], **GIVEN), "TND has 2 axes"),
    ((X, X, X, 4, "BNSD"), dict(atten_mask=MASK, sparse_mode=2), "2048 x 2048"),
    ((X, X, X, 4, "BNSD"), dict(atten_mask=CAUSAL, sparse_mode=6, prefix=[1, 1]), "3072"),
    ((X, X, X, 4, "BNSD"), dict(atten_mask=MASK, sparse_mode=5, prefix=[1, 1]), "has 4 axes"),
    ((X, X, X, 4, "BNSD"), dict(atten_mask=MASK[:, :5]), "ends in the lengths"),
    ((X, X[:, :3], X[:, :3], 6, "BSND"), dict(atten_mask=MASK), "ends in the lengths"),
    ((T, T, T, 4, "BSH"), dict(atten_mask=MASK), "ends in the lengths"),
    ((T, T, T, 4, "SBH"), dict(atten_mask=MASK[:5]), "ends in the lengths"),
    ((X, X, X, 4, "BNSD"), dict(atten_mask=PREFIX, sparse_mode=6), "need prefix"),
    ((X, X, X, 4, "BNSD"), dict(keep_prob=0.0), "more than 0"),
    ((X, X, X, 4, "BNSD"), dict(keep_prob=1.5), "at most 1"),
    ((X, X, X, 4, "BNSD"), dict(sparse_mode=9), "0 to 8"),
    ((T, T, T, 4, "TND"), dict(sparse_mode=5, **GIVEN), "no sparse_mode 5"),
    ((X, X, X, 4, "BNSD"), dict(sparse_mode=7), "are for TND"),
    ((X, X, X, 4, "BNSD"), dict(prefix=[1] * 33), "at most 32"),
    ((T, T, T, 4, "TND"), {}, "needs actual_seq_qlen"),
    ((T, T, T, 4, "TND"), dict(actual_seq_qlen=[6]), "needs actual_seq_kvlen"),
    ((T, T, T, 4, "TND"), dict(actual_seq_qlen=[6], actual_seq_kvlen=[2, 6]), "one length"),
    ((X, X, X, 4, "BNSD"), dict(softmax_layout="NTD"), "'' or TND"),
    ((X, X, X, 4, "BNSD"), dict(softmax_layout="TND"), "needs input_layout TND"),
    ((X, X, X, 4, "BNSD"), dict(sink=torch.ones(4).half()), "sink is float32"),
    ((X, X, X, 4, "BNSD"), dict(sink=torch.ones(4, 1)), "sink has 1 axis"),
    ((X, X, X, 4, "BNSD"), dict(sink=torch.ones(3)), "one value for each head"),
    ((X, X, X, 4, "BNSD"), dict(dropout_mask=MASK), "dropout_mask is uint8"),
]


@pytest.mark.parametrize("args, given, message", BROKEN)
def test_limits_of_fusion_attention(args, given, message):
    with pytest.raises(RuntimeError, match=message):
        npu.npu_fusion_attention(*args, **given)


def test_dropout_is_not_emulated():
    with pytest.raises(AssertionError, match="dropout is not emulated"):
        npu.npu_fusion_attention(X, X, X, 4, "BNSD", keep_prob=0.9)


def test_every_limit_is_tested():
    assert opstest.untested("npu_fusion_attention", [m for _, _, m in BROKEN]) == []
