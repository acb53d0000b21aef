"""The attention operators of ops/: values, gradients, masks, limits.

What is expected comes from F.scaled_dot_product_attention in float64, or from
loops written here; never from the code under test.
"""
import math

import pytest
import torch
import torch.nn.functional as F

import opslimits
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



# ---- npu_fusion_attention_v2 and _v3: what differs from the first ------------


def renamed(given):
    names = {"pre_tockens": "pre_tokens", "next_tockens": "next_tokens"}
    return {names.get(k, k): v for k, v in given.items()}


def lists_as_tensors(given):
    ends = ("actual_seq_qlen", "actual_seq_kvlen")
    return {k: torch.as_tensor(v) if k in ends else v for k, v in given.items()}


CALLS = [
    (X, 4, "BNSD", dict(scale=0.3)),
    (X, 4, "BNSD", dict(scale=0.3, atten_mask=CAUSAL, sparse_mode=3)),
    (X, 4, "BNSD", dict(atten_mask=CAUSAL, sparse_mode=4, pre_tockens=2, next_tockens=1)),
    (T, 4, "TND", dict(actual_seq_qlen=[2, 6], actual_seq_kvlen=[2, 6], scale=0.3)),
    (X, 4, "BNSD", dict(pse=torch.randn(2, 4, 6, 6), scale=0.3, sink=torch.ones(4))),
]


@pytest.mark.parametrize("x, heads, layout, given", CALLS)
def test_v2_and_v3_are_as_the_first(x, heads, layout, given):
    first = npu.npu_fusion_attention(x, x, x, heads, layout, **given)
    second = npu.npu_fusion_attention_v2(x, x, x, heads, layout, **renamed(given))
    third = npu.npu_fusion_attention_v3(x, x, x, heads, layout, **lists_as_tensors(given))
    for a, b, c in zip(first[:4], second[:4], third[:4]):
        assert torch.equal(a, b) and torch.equal(a, c)
    assert second[4:] == (0, 0, 0) and len(third) == 6
    assert third[4].dtype == third[5].dtype == torch.int64
    assert third[4].shape == third[5].shape == (1,)


def test_v2_adds_pse_after_the_scale_with_type_0():
    q, k, v = heads(1, 2, 4, 8), heads(1, 2, 5, 8), heads(1, 2, 5, 8)
    pse = torch.randn(1, 2, 4, 5)
    for kind, bias in ((0, pse), (1, pse * 0.5)):
        out = npu.npu_fusion_attention_v2(
            q, k, v, 2, "BNSD", pse=pse, pse_type=kind, scale=0.5
        )[0]
        close(out, sdpa(q, k, v, bias.double(), 0.5))


def test_v2_with_rope():
    """Scores of both parts are added before the scale."""
    q, k, v = (x.bfloat16() for x in packed([2, 5], [2, 5]))
    k, v = k.repeat(1, 2, 1), v.repeat(1, 2, 1)
    more = [torch.randn(5, 4, 8).bfloat16().requires_grad_() for _ in range(2)]
    mask = torch.zeros(3, 3, dtype=torch.bool)
    out = npu.npu_fusion_attention_v2(
        q, k, v, 4, "TND", query_rope=more[0], key_rope=more[1], atten_mask=mask,
        scale=0.2, actual_seq_qlen=[2, 5], actual_seq_kvlen=[2, 5],
    )[0]
    parts = []
    for a, b in ((0, 2), (2, 5)):
        scores = torch.einsum("qnd,knd->nqk", q[a:b].double(), k[a:b].double())
        scores = scores + torch.einsum(
            "qnd,knd->nqk", more[0][a:b].double(), more[1][a:b].double()
        )
        weights = (scores * 0.2).softmax(-1)
        parts.append(torch.einsum("nqk,knd->qnd", weights, v[a:b].double()))
    close(out, torch.cat(parts))
    out.sum().backward()
    assert more[0].grad.abs().sum() > 0 and more[1].grad.abs().sum() > 0


B = T.bfloat16()
ROPE = dict(query_rope=B, key_rope=B, atten_mask=MASK, **GIVEN)


def rope(**more):
    return {**ROPE, **more}


V2 = [
    ((X, X, X, 4, "BNSD"), dict(pse=X[0], pse_type=2), "2 or 3 has 1 or 2"),
    ((X, X, X, 4, "BNSD"), dict(pse=X[0, 0].half(), pse_type=3), "2 or 3 is float32"),
    ((X, X, X, 4, "BNSD"), dict(pse_type=4), "pse_type is"),
    ((B, B, B, 4, "TND"), rope(key_rope=None), "given together"),
    ((X, X, X, 4, "BNSD"), dict(query_rope=X, key_rope=X), "query_rope is for TND"),
    ((T, T, T, 4, "TND"), rope(), "beside query_rope is bfloat16"),
    ((B, B, B, 4, "TND"), rope(query_rope=T), "query_rope is bfloat16"),
    ((B, B, B, 4, "TND"), rope(key_rope=T), "key_rope is bfloat16"),
    ((B, B, B, 4, "TND"), rope(key_rope=B[..., :4]), "of one width"),
    ((B, B, B, 4, "TND"), rope(query_rope=B[..., :4], key_rope=B[..., :4]), "multiple of 8"),
    (
        (B, B, B, 4, "TND"),
        rope(query_rope=torch.cat([B, B], -1), key_rope=torch.cat([B, B], -1)),
        "no wider than query, key",
    ),
    ((B, B, B, 4, "TND"), rope(atten_mask=None), "needs atten_mask"),
    ((B, B, B, 4, "TND"), rope(keep_prob=0.5), "no dropout"),
    ((B, B, B, 4, "TND"), rope(pse=X.bfloat16()), "takes no pse"),
    ((B, B, B, 4, "TND"), rope(pse_type=0), "pse_type 1 alone"),
]
L = torch.tensor([6])
V3 = [
    ((T, T, T, 4, "TND"), dict(actual_seq_qlen=L[None], actual_seq_kvlen=L), "qlen has 1 axis"),
    ((T, T, T, 4, "TND"), dict(actual_seq_qlen=L, actual_seq_kvlen=L[None]), "kvlen has 1 axis"),
    (
        (T, T, T, 4, "TND"), dict(actual_seq_qlen=L.to("meta"), actual_seq_kvlen=L),
        "qlen is on the CPU",
    ),
    (
        (T, T, T, 4, "TND"), dict(actual_seq_qlen=L, actual_seq_kvlen=L.to("meta")),
        "kvlen is on the CPU",
    ),
]
ALL = [("npu_fusion_attention", *case) for case in BROKEN]
ALL += [("npu_fusion_attention_v2", a, renamed(g), m) for a, g, m in BROKEN + V2]
ALL += [
    ("npu_fusion_attention_v3", a, lists_as_tensors(g), m)
    for a, g, m in BROKEN + V3
    if "dropout_mask" not in g
]


# ---- inference ---------------------------------------------------------------

SPLIT = {
    "BSH": ("BSH", "BSH"), "BSND": ("BSND", "BSND"), "BNSD": ("BNSD", "BNSD"),
    "BNSD_BSND": ("BNSD", "BSND"), "BSH_BNSD": ("BSH", "BNSD"),
    "BSND_BNSD": ("BSND", "BNSD"), "BSH_NBSD": ("BSH", "NBSD"),
    "BNSD_NBSD": ("BNSD", "NBSD"),
}
INFER = [
    ("npu_fused_infer_attention_score", "num_heads", "scale"),
    ("npu_fused_infer_attention_score_v2", "num_query_heads", "softmax_scale"),
    ("npu_prompt_flash_attention", "num_heads", "scale_value"),
]


def result(name, *args, **given):
    y = getattr(npu, name)(*args, **given)
    return y[0] if isinstance(y, tuple) else y


@pytest.mark.parametrize("name, heads_name, scale_name", INFER)
@pytest.mark.parametrize("layout", sorted(SPLIT))
def test_inference_layouts(layout, name, heads_name, scale_name):
    if name == "npu_prompt_flash_attention" and layout not in ("BSH", "BSND", "BNSD"):
        return
    inside, after = SPLIT[layout]
    q, k, v = (heads(2, n, s, 8, torch.float16) for n, s in ((4, 5), (2, 7), (2, 7)))
    out = result(
        name, *(lay(x, inside) for x in (q, k, v)), input_layout=layout,
        num_key_value_heads=2, **{heads_name: 4, scale_name: 0.3},
    )
    expected = sdpa(q, k, v, scale=0.3)
    expected = expected.transpose(0, 1) if after == "NBSD" else lay(expected, after)
    assert out.dtype == torch.float16
    close(out, expected)


@pytest.mark.parametrize("name, heads_name, scale_name", INFER)
def test_inference_masks(name, heads_name, scale_name):
    q, k, v = (heads(2, 2, s, 8, torch.float16) for s in (4, 7, 7))
    given = {heads_name: 2, scale_name: 0.3, "input_layout": "BNSD"}
    mask = torch.rand(2, 4, 7) < 0.4
    mask[..., :2] = False
    wide = dict(next_tokens=FULL)
    for shaped, seen_ in ((mask[0], ~mask[0]), (mask, ~mask[:, None]),
                          (mask[:, None], ~mask[:, None]), (mask[:1].byte(), ~mask[:1, None])):
        out = result(name, q, k, v, atten_mask=shaped, **given, **wide)
        close(out, sdpa(q, k, v, seen_, 0.3))
    rules = {2: lambda i, j: j <= i, 3: lambda i, j: j <= i + 3,
             4: lambda i, j: i + 1 <= j <= i + 4}
    for mode, rule in rules.items():
        out = result(name, q, k, v, atten_mask=CAUSAL, sparse_mode=mode, pre_tokens=2,
                     next_tokens=1, **given)
        close(out, sdpa(q, k, v, seen(4, 7, rule), 0.3))


def test_prompt_attention_is_causal_by_default():
    """next_tokens is 0 there; without a mask that counts for nothing."""
    q = heads(1, 2, 4, 8, torch.float16)
    given = dict(num_heads=2, input_layout="BNSD")
    clear = torch.zeros(4, 4, dtype=torch.bool)
    out = npu.npu_prompt_flash_attention(q, q, q, atten_mask=clear, **given)
    close(out, sdpa(q, q, q, seen(4, 4, lambda i, j: j <= i)))
    close(npu.npu_prompt_flash_attention(q, q, q, **given), sdpa(q, q, q))


def test_inference_lengths_and_lse():
    q, k, v = (heads(3, 2, s, 8, torch.float16) for s in (4, 6, 6))
    out, lse = npu.npu_fused_infer_attention_score(
        q, k, v, num_heads=2, scale=0.3, input_layout="BNSD", softmax_lse_flag=True,
        actual_seq_lengths=[4, 2, 3], actual_seq_lengths_kv=[6, 5, 0],
    )
    assert lse.shape == (3, 2, 4, 1) and lse.dtype == torch.float32
    for b, (m, n) in enumerate(((4, 6), (2, 5))):
        one = (q[b : b + 1, :, :m], k[b : b + 1, :, :n], v[b : b + 1, :, :n])
        close(out[b : b + 1, :, :m], sdpa(*one, scale=0.3))
        scores = torch.einsum("bnqd,bnkd->bnqk", one[0].double(), one[1].double()) * 0.3
        close(lse[b, :, :m, 0], scores.logsumexp(-1)[0], 1e-4)
    assert (out[2] == 0).all()
    assert npu.npu_fused_infer_attention_score(
        q, k, v, num_heads=2, input_layout="BNSD"
    )[1].shape == (0,)


@pytest.mark.parametrize("layout", ("TND", "NTD", "TND_NTD", "NTD_TND"))
def test_inference_of_packed_sequences(layout):
    q, k, v = (x.half() for x in packed([2, 5], [3, 7]))
    inside, after = layout.split("_") if "_" in layout else (layout, layout)
    turned = [x.transpose(0, 1).contiguous() for x in (q, k, v)]
    out, lse = npu.npu_fused_infer_attention_score_v2(
        *(turned if inside == "NTD" else (q, k, v)), num_query_heads=4,
        num_key_value_heads=2, softmax_scale=0.3, input_layout=layout,
        actual_seq_qlen=[2, 5], actual_seq_kvlen=[3, 7], atten_mask=CAUSAL,
        sparse_mode=3, return_softmax_lse=True,
    )
    rule = lambda n, r, c: lambda i, j: j <= i + c - r
    expected = each(q, k, v, [2, 5], [3, 7], rule, 0.3)
    close(out, expected.transpose(0, 1) if after == "NTD" else expected)
    assert lse.shape == (5, 4, 1)


def test_inference_with_rope_and_sink():
    q, k, v = (heads(2, 2, s, 8, torch.bfloat16) for s in (4, 6, 6))
    qr, kr = heads(2, 2, 4, 64, torch.bfloat16), heads(2, 2, 6, 64, torch.bfloat16)
    sink = torch.randn(2).bfloat16()
    given = dict(query_rope=qr, key_rope=kr, input_layout="BNSD")
    out = npu.npu_fused_infer_attention_score(q, k, v, num_heads=2, scale=0.1, **given)[0]
    both = torch.cat([q, qr], -1), torch.cat([k, kr], -1)
    close(out, sdpa(*both, v, scale=0.1))
    out = npu.npu_fused_infer_attention_score_v2(
        q, k, v, num_query_heads=2, softmax_scale=0.1, learnable_sink=sink, **given
    )[0]
    scores = torch.einsum("bnqd,bnkd->bnqk", both[0].double(), both[1].double()) * 0.1
    more = torch.cat([scores, sink.double().view(1, 2, 1, 1).expand(2, 2, 4, 1)], -1)
    close(out, more.softmax(-1)[..., :-1] @ v.double())


@pytest.mark.parametrize("name", ("npu_incre_flash_attention", "npu_fused_infer_attention_score"))
def test_one_new_token(name):
    """Lengths of the cache, a mask (B, Skv); modes and bands do not count."""
    q, k, v = (heads(2, n, s, 8, torch.float16) for n, s in ((4, 1), (2, 6), (2, 6)))
    scale = "scale_value" if "incre" in name else "scale"
    ends = "actual_seq_lengths" if "incre" in name else "actual_seq_lengths_kv"
    given = {"num_heads": 4, "num_key_value_heads": 2, "input_layout": "BNSD", scale: 0.3}
    out = result(name, q, k, v, **given, **{ends: [6, 4]})
    visible = torch.arange(6) < torch.tensor([6, 4]).view(2, 1, 1, 1)
    close(out, sdpa(q, k, v, visible, 0.3))
    mask = torch.zeros(2, 6, dtype=torch.bool)
    mask[1, 2:] = True
    out = result(name, q, k, v, atten_mask=mask, **given)
    close(out, sdpa(q, k, v, ~mask[:, None, None], 0.3))
    if "fused" in name:
        out = result(name, q, k, v, sparse_mode=3, atten_mask=CAUSAL, **given)
        close(out, sdpa(q, k, v, scale=0.3))


def test_inference_drops_gradients():
    q = heads(1, 1, 2, 8, torch.float16).requires_grad_()
    out, lse = npu.npu_fused_infer_attention_score(q, q, q, input_layout="BNSD")
    assert not lse.requires_grad
    with pytest.warns(UserWarning, match="no backward"):
        out.sum().backward()
    assert q.grad is None


H = X.half()
E = H.transpose(0, 1)  # not contiguous
M = MASK.contiguous()
W = torch.ones(1, 1, 2, 520).half()
S = torch.ones(1, 2, 1040).half()
I8 = torch.ones(2, 4, 6, 8, dtype=torch.int8)
TABLE = torch.zeros(2, 3, dtype=torch.int32)


def shared(n, s):
    """Illegal calls of what the operators for inference have in common."""
    four = {n: 4, "input_layout": "BNSD"}
    return [
        ((H.float(),) * 3, four, "query is float16"),
        ((H, H, H.bfloat16()), four, "key and value have one dtype"),
        ((H[0, 0],) * 3, four, "query has 3 or 4 axes"),
        ((H, H, H), {n: 4, "input_layout": "SBH"}, "input_layout is one"),
        ((H, H, H), {n: 0, "input_layout": "BNSD"}, "is at least 1"),
        ((H.repeat(1, 65, 1, 1),) * 3, {n: 260, "input_layout": "BNSD"}, "is at most 256"),
        ((H, H, H), {n: 2, "input_layout": "BNSD"}, "query's number of heads"),
        ((H, H, H), {n: 2, "input_layout": "BSND"}, "query's number of heads"),
        ((H[0],) * 3, {n: 3}, "query's last axis holds"),
        ((S, S, S), {n: 2}, "at most 512 wide"),
        ((W, W, W), {n: 1, "input_layout": "BNSD"}, "at most 512 wide"),
        ((H, H, H), {**four, "num_key_value_heads": -1}, "not negative"),
        ((H, H, H), {**four, "num_key_value_heads": 3}, "num_key_value_heads divides"),
        (
            (torch.ones(1, 128, 2, 8).half(), W, W),
            {n: 128, "input_layout": "BNSD", "num_key_value_heads": 1}, "at most 64 times",
        ),
        ((H, H, H), {**four, "atten_mask": M.half()}, "bool, int8 or uint8"),
    ]


def prompts(n):
    four = {n: 4, "input_layout": "BNSD"}
    return [
        ((E, E.contiguous(), E.contiguous()), {n: 2, "input_layout": "BNSD"}, "query is contig"),
        ((E.contiguous(), E, E.contiguous()), {n: 2, "input_layout": "BNSD"}, "key is contig"),
        ((E.contiguous(), E.contiguous(), E), {n: 2, "input_layout": "BNSD"}, "value is contig"),
        ((H, H, H), {**four, "atten_mask": torch.ones(8, 6).bool().t()}, "mask is contiguous"),
        ((H, H, H), {**four, "atten_mask": M[0]}, "2, 3 or 4 axes"),
        ((H, H, H), {**four, "atten_mask": M, "sparse_mode": 2}, "2048 x 2048"),
        ((H, H, H), {**four, "sparse_mode": 5}, "sparse_mode is 0 to 4"),
        ((H, H, H), {**four, "pse_shift": X}, "pse_shift is float16"),
        ((H, H, H), {**four, "pse_shift": X.bfloat16()}, "pse_shift has query's"),
        ((H, H, H), {**four, "pse_shift": H[0]}, "pse_shift has 4"),
    ]


def fused(n, s, q_ends, kv_ends):
    four, pack = {n: 4, "input_layout": "BNSD"}, {n: 4, "input_layout": "TND"}
    t = T.half()
    return shared(n, s) + prompts(n) + [
        ((H, X, X), four, "key is float16"),
        ((t, t, t), pack, "need " + q_ends),
        ((t, t, t), {**pack, q_ends: [6]}, "need " + kv_ends),
        ((H, H, H), {**four, "query_rope": H}, "given together"),
        ((H, H, H), {**four, "block_table": TABLE.long()}, "block_table is int32"),
        ((H, H, H), {**four, "block_table": TABLE[0]}, "block_table has 2"),
        ((H, H, H), {**four, "block_table": TABLE}, "needs block_size"),
        ((H, H, H), {**four, "block_table": TABLE, "block_size": 128}, "needs " + kv_ends),
        ((H, H, H), {**four, "inner_precise": 4}, "inner_precise is"),
    ]


F4 = dict(num_heads=4, input_layout="BNSD")
Q4 = dict(num_query_heads=4, input_layout="BNSD")
FUSED = fused("num_heads", "scale", "actual_seq_lengths", "actual_seq_lengths_kv") + [
    ((H, H, H), dict(query_rope=X, key_rope=H, **F4), "query_rope has query's"),
    ((H, H, H), dict(query_rope=H, key_rope=X, **F4), "key_rope has key's"),
    ((H, H, H), dict(query_rope=H, key_rope=H, pse_shift=H, **F4), "takes no pse_shift"),
    ((H, H, H), dict(key_antiquant_scale=X, **F4), "value_antiquant_scale are given"),
    ((H, H, H), dict(key_antiquant_offset=X, **F4), "value_antiquant_offset are given"),
    ((H, H, H), dict(key_shared_prefix=X, **F4), "value_shared_prefix are given"),
    ((H, H, H), dict(quant_offset2=X, **F4), "needs quant_scale2"),
]
FUSED_V2 = fused("num_query_heads", "softmax_scale", "actual_seq_qlen", "actual_seq_kvlen") + [
    ((H, H, H), dict(learnable_sink=X, **Q4), "learnable_sink is bfloat16"),
    ((H, H, H), dict(learnable_sink=B, **Q4), "learnable_sink has 1 axis"),
    ((H, H, H), dict(learnable_sink=B[0, :3, 0], **Q4), "one value for each head"),
    ((H, H, H), dict(dequant_scale_key=X, **Q4), "dequant_scale_value are given"),
    ((H, H, H), dict(quant_offset_out=X, **Q4), "needs quant_scale_out"),
]
PROMPT = shared("num_heads", "scale_value") + prompts("num_heads") + [
    ((H, H.bfloat16(), H.bfloat16()), F4, "key has query's dtype"),
    ((H, H, H), dict(padding_mask=M, **F4), "padding_mask"),
    ((T.half(),) * 3, dict(num_heads=4, input_layout="TND"), "need actual_seq_lengths"),
    (
        (T.half(),) * 3, dict(num_heads=4, input_layout="TND", actual_seq_lengths=[6]),
        "need actual_seq_lengths_kv",
    ),
    ((H, H, H), dict(quant_offset2=X, **F4), "needs quant_scale2"),
    ((I8, I8, I8), F4, "int8 query needs deq_scale1"),
    ((H, H, H), dict(deq_scale1=X, **F4), "is for an int8 query"),
]
ONE = H[:, :, :1]
INCRE = shared("num_heads", "scale_value")[:-1] + [
    ((ONE, H, H), dict(atten_mask=M.half(), **F4), "bool, int8 or uint8"),
    ((ONE, X, X), F4, "key is float16"),
    ((H, H, H), F4, "one row for each"),
    ((H[0], H[0], H[0]), dict(num_heads=4), "one row for each"),
    ((ONE, H, H), dict(pse_shift=X, **F4), "pse_shift has query's"),
    ((ONE, H, H), dict(padding_mask=M, **F4), "padding_mask"),
    ((ONE, H, H), dict(block_table=TABLE.long(), **F4), "block_table is int32"),
    ((ONE, H, H), dict(block_table=TABLE[0], **F4), "block_table has 2"),
    ((ONE, H, H), dict(block_table=TABLE, **F4), "needs block_size"),
    ((ONE, H, H), dict(block_table=TABLE, block_size=128, **F4), "needs actual_seq_lengths"),
    ((ONE, H, H), dict(quant_offset2=X, **F4), "needs quant_scale2"),
    ((ONE, H, H), dict(inner_precise=2, **F4), "inner_precise is"),
]
ALL += [("npu_fused_infer_attention_score", *case) for case in FUSED]
ALL += [("npu_fused_infer_attention_score_v2", *case) for case in FUSED_V2]
ALL += [("npu_prompt_flash_attention", *case) for case in PROMPT]
ALL += [("npu_incre_flash_attention", *case) for case in INCRE]


@pytest.mark.parametrize("name, args, given, message", ALL)
def test_limits(name, args, given, message):
    with pytest.raises(RuntimeError, match="not held.*" + message):
        getattr(npu, name)(*args, **given)


@pytest.mark.parametrize("name", sorted({case[0] for case in ALL}))
def test_every_limit_is_met(name):
    assert opslimits.never_met(name, [(a, g) for n, a, g, _ in ALL if n == name]) == []


def test_dropout_is_not_emulated():
    with pytest.raises(AssertionError, match="dropout is not emulated"):
        npu.npu_fusion_attention(X, X, X, 4, "BNSD", keep_prob=0.9)

