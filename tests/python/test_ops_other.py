"""Operators of ops/ about layout, sorting, quantisation and optimisers."""
import pytest
import torch
import torch.nn.functional as F

import opslimits
from npufuse import emulate
from opsvalues import FLOATS, close, compare, pairs

npu = emulate.module()


# ---- products and layouts ----------------------------------------------------


@pytest.mark.parametrize("dtype", FLOATS[:2], ids=str)
def test_bmm(dtype):
    ours, wide = pairs(torch.randn(3, 4, 5).to(dtype), torch.randn(3, 5, 2).to(dtype))
    compare(npu.npu_bmmV2(*ours, []), torch.bmm(*wide), ours, wide)
    y = npu.npu_bmmV2(*ours, [12, 2])
    assert torch.equal(y, npu.npu_bmmV2(*ours, []).view(12, 2))


def test_bmm_of_integers():
    x, y = torch.randint(9, (2, 3)).int(), torch.randint(9, (3, 4)).int()
    assert torch.equal(npu.npu_bmmV2(x, y, []).long(), x.long() @ y.long())


@pytest.mark.parametrize("first, second", [
    (None, None), ([0, 1, 2], None), ((1, 0, 2), None), ([1, 0, 2], [0, 2, 1]),
])
def test_transpose_batchmatmul(first, second):
    x, w = torch.randn(3, 5, 16).half(), torch.randn(3, 16, 32).half()
    given = x.transpose(0, 1).contiguous() if first and first[0] == 1 else x
    turned = w.transpose(1, 2).contiguous() if second else w
    y = npu.npu_transpose_batchmatmul(given, turned, perm_x1=first, perm_x2=second)
    expected = torch.einsum("bmk,bkn->mbn", x.double(), w.double())
    assert y.dtype == torch.float16
    close(y, expected, 0.02)


def test_transpose_batchmatmul_in_parts():
    x, w = torch.randn(4, 5, 16).half(), torch.randn(4, 16, 32).half()
    y = npu.npu_transpose_batchmatmul(x, w, batch_split_factor=2)
    whole = torch.einsum("bmk,bkn->mbn", x.double(), w.double()).reshape(5, 128)
    assert y.shape == (2, 5, 64)
    close(y, torch.stack([whole[:, :64], whole[:, 64:]]), 0.02)


@pytest.mark.parametrize("first, perm, shape", [
    (True, (0, 2, 1, 3), (2, 4, 18)), (False, (0, 2, 1), (2, 12, 6)),
])
def test_confusion_transpose(first, perm, shape):
    """The page's own example."""
    ours, wide = pairs(torch.randn(2, 3, 4, 6))
    y = npu.npu_confusion_transpose(ours[0], perm, shape, first)
    x = wide[0]
    expected = x.permute(perm).reshape(shape) if first else x.reshape(shape).permute(perm)
    compare(y, expected, ours, wide)


def test_all_reduce_has_no_golden():
    x = torch.randn(2, 3).half()
    with pytest.raises(RuntimeError, match="npu_mm_all_reduce_base has no golden"):
        npu.npu_mm_all_reduce_base(x, x.t(), "group")


def test_multi_head_attention_has_no_golden():
    with pytest.raises(RuntimeError, match="npu_multi_head_attention has no golden"):
        npu.npu_multi_head_attention(*MHA)


# ---- sorting and sampling ----------------------------------------------------


@pytest.mark.parametrize("descending", (False, True))
def test_sort(descending):
    x = torch.randn(3, 7)
    y = npu.npu_sort_v2(x, -1, descending)
    rows = [sorted(row, reverse=descending) for row in x.tolist()]
    assert torch.equal(y, torch.tensor(rows))


def kept(row, p, k):
    """Which values of one row stay, from the greatest down."""
    order = sorted(range(len(row)), key=lambda i: -row[i])
    if k is not None:
        least = row[order[k - 1]]
        order = [i for i in order if row[i] >= least]
    if p is None:
        return set(order)
    weights = torch.tensor([row[i] for i in order], dtype=torch.float64).softmax(0)
    stay = {order[0]}
    above = 0.0
    for i, w in zip(order, weights.tolist()):
        if above < p:  # the sum from the least up to it is more than 1 - p
            stay.add(i)
        above += w
    return stay


@pytest.mark.parametrize("p, k", [(0.7, 5), (0.3, None), (None, 3), (0.0, 4), (1.0, 6)])
def test_top_k_top_p(p, k):
    x = torch.randn(4, 9)
    y = npu.npu_top_k_top_p(
        x, None if p is None else torch.full((4,), p),
        None if k is None else torch.full((4,), k).int(),
    )
    for before, after in zip(x.tolist(), y.tolist()):
        stay = kept(before, p, k)
        expected = [v if i in stay else float("-inf") for i, v in enumerate(before)]
        assert after == expected


# ---- quantisation ------------------------------------------------------------


@pytest.mark.parametrize("dtype", FLOATS[1:], ids=str)
def test_dynamic_quant(dtype):
    x = torch.randn(2, 3, 16).to(dtype)
    x[0, 1] = 0
    y, scale = npu.npu_dynamic_quant(x)
    assert y.dtype == torch.int8 and scale.dtype == torch.float32
    close(scale, x.double().abs().amax(-1) / 127, 1e-5)
    error = y.double() * scale.unsqueeze(-1) - x.double()
    assert (error.abs() <= scale.unsqueeze(-1) * 0.51).all()
    assert y.abs().amax(-1).tolist() == [[127, 0, 127], [127, 127, 127]]


def test_dynamic_quant_by_groups():
    x, smooth = torch.randn(5, 16).half(), torch.rand(2, 16).half()
    y, scale = npu.npu_dynamic_quant(
        x, smooth_scales=smooth, group_index=torch.tensor([2, 5]).int()
    )
    for i, g in enumerate((0, 0, 1, 1, 1)):
        one = npu.npu_dynamic_quant(x[i : i + 1], smooth_scales=smooth[g])
        assert torch.equal(y[i : i + 1], one[0]) and torch.equal(scale[i : i + 1], one[1])
        close(scale[i], (x[i].double() * smooth[g].double()).abs().max() / 127, 1e-3)


# ---- AdamW -------------------------------------------------------------------


@pytest.mark.parametrize("maximize", (False, True, None))
def test_adam_w_is_that_of_torch(maximize):
    """Three steps beside torch.optim.AdamW."""
    start = torch.randn(4, 3)
    theirs = torch.nn.Parameter(start.clone())
    optimizer = torch.optim.AdamW(
        [theirs], lr=0.1, betas=(0.8, 0.9), eps=1e-6, weight_decay=0.2,
        maximize=bool(maximize),
    )
    var, m, v = start.clone(), torch.zeros(4, 3), torch.zeros(4, 3)
    for step in range(3):
        grad = torch.randn(4, 3)
        theirs.grad = grad.clone()
        optimizer.step()
        results = npu.npu_apply_adam_w(
            0.8**step, 0.9**step, 0.1, 0.2, 0.8, 0.9, 1e-6, grad, None, False,
            maximize, out=(var, m, v),
        )
        assert results[0] is var and results[1] is m and results[2] is v
        close(var, theirs, 1e-5)
    state = optimizer.state[theirs]
    close(m, state["exp_avg"], 1e-5)
    close(v, state["exp_avg_sq"], 1e-5)


# ---- limits ------------------------------------------------------------------

A, B = torch.randn(3, 4, 16).half(), torch.randn(3, 16, 32).half()
N = "npu_bmmV2"
BROKEN = [
    (N, (A.bfloat16(), B, []), {}, "input is float16"),
    (N, (A, B.float(), []), {}, "mat2 has input's"),
    (N, (A[0, 0], B, []), {}, "input has at least"),
    (N, (A, B[0, :, 0], []), {}, "mat2 has at least"),
    (N, (A, A, []), {}, "mat2's last axis but one"),
]
N = "npu_transpose_batchmatmul"
BROKEN += [
    (N, (A.double(), B), {}, "input is float16"),
    (N, (A, B.float()), {}, "weight has input's"),
    (N, (A[0], B), {}, "input has 3"),
    (N, (A, B[0]), {}, "weight has 3"),
    (N, (A, B), dict(perm_x1=[2, 1, 0]), "perm_x1 is"),
    (N, (A, B), dict(perm_x2=[1, 0, 2]), "perm_x2 is"),
    (N, (A, B), dict(perm_y=[0, 1, 2]), "perm_y is"),
    (N, (A[:2], B), {}, "one batch size"),
    (N, (A, B), dict(perm_x1=[1, 0, 2]), "one batch size"),
    (N, (A, B.transpose(1, 2)), {}, "second axis is input's"),
    (N, (A, B), dict(perm_x2=[0, 2, 1]), "last axis is input's"),
    (N, (A[..., :8], B[:, :8]), {}, "second axis is a multiple"),
    (N, (A, B[..., :8]), {}, "last axis is a multiple"),
    (
        N, (A[..., :1].expand(3, 4, 65536), B[:, :1, :16].expand(3, 65536, 16)), {},
        "less than 65536",
    ),
    (
        N, (A[:1, :1, :].expand(4, 4096, 16), B[:1].expand(4096, 16, 32)),
        dict(perm_x1=[1, 0, 2]), "hold less than 65536",
    ),
    (N, (A, B), dict(bias=A), "bias is not"),
    (N, (A, B), dict(scale=A), "scale is int64"),
    (N, (A, B), dict(scale=A.long()), "scale has 1"),
    (N, (A, B), dict(scale=A[0, 0].long(), batch_split_factor=3), "needs batch_split"),
    (N, (A, B), dict(batch_split_factor=2), "divides the batch"),
]
X, Y = torch.randn(2, 16).half(), torch.randn(16, 32).half()
I8, J8 = X.to(torch.int8), Y.to(torch.int8)
N = "npu_mm_all_reduce_base"
BROKEN += [
    (N, (X.float(), Y, "g"), {}, "x1 is int8"),
    (N, (X[0], Y, "g"), {}, "x1 has 2"),
    (N, (X[:0], Y, "g"), {}, "not empty"),
    (N, (X, Y.float(), "g"), {}, "x2 has x1's"),
    (N, (X, Y[0], "g"), {}, "x2 has 2"),
    (N, (X, X, "g"), {}, "K x N, not N x K"),
    (N, (Y.t(), Y, "g"), {}, "x1 is contiguous"),
    (N, (X, Y, "g"), dict(reduce_op="max"), "reduce_op is sum"),
    (N, (X, Y, "g"), dict(bias=Y[0].float()), "bias has x1's"),
    (N, (X, Y, "g"), dict(bias=Y), "bias has 1"),
    (N, (X, Y, "g"), dict(bias=X[0]), "for each column"),
    (N, (X, J8, "g"), {}, "needs antiquant_scale"),
    (N, (X, J8, "g"), dict(antiquant_scale=Y.float()), "antiquant_scale has"),
    (N, (X, J8, "g"), dict(antiquant_scale=Y, antiquant_offset=Y.float()), "offset has"),
    (N, (I8, J8, "g"), {}, "needs dequant_scale"),
    (N, (X, Y, "g"), dict(pertoken_scale=X), "pertoken_scale is"),
    (N, (X, Y, "g"), dict(x3=X.float()), "x3 is"),
    (N, (X, Y, "g"), dict(x3=X[0]), "x3 has"),
    (N, (X, Y, "g"), dict(comm_quant_scale_1=X), "given together"),
    (N, (X, Y, "g"), dict(comm_turn=1), "comm_turn is 0"),
]
E32 = torch.tensor([1, 2]).int()
N = "npu_dynamic_quant"
BROKEN += [
    (N, (X.float(),), {}, "input is float16"),
    (N, (X[0],), {}, "at least 2"),
    (N, (X,), dict(smooth_scales=X[0].float()), "smooth_scales has input's"),
    (N, (X,), dict(smooth_scales=X[0, :8]), "as wide as"),
    (N, (X,), dict(smooth_scales=X), "1 axis without"),
    (N, (X,), dict(smooth_scales=X[0], group_index=E32), "2 axes with"),
    (N, (X,), dict(smooth_scales=X, group_index=E32.long()), "group_index is int32"),
    (N, (X,), dict(smooth_scales=X, group_index=E32[None]), "group_index has 1"),
    (N, (X,), dict(group_index=E32), "needs smooth_scales"),
    (N, (X,), dict(dst_type=5), "dst_type is"),
    (N, (X[:, :12],), dict(dst_type=torch.quint4x2), "multiple of 8"),
    (N, (X,), dict(quant_mode="perblock"), "quant_mode is"),
]
N = "npu_confusion_transpose"
BROKEN += [
    (N, (X.bfloat16(), [1, 0], [32], True), {}, "input is float16"),
    (N, (X, [0], [32], True), {}, "every axis of input"),
    (N, (X, [1, 0], [32], False), {}, "every axis of shape"),
]
N = "npu_sort_v2"
BROKEN += [
    (N, (torch.tensor(1.0),), {}, "at least 1 axis"),
    (N, (X, 0), {}, "dim is the last"),
]
N = "npu_top_k_top_p"
BROKEN += [
    (N, (X.double(),), {}, "logits is"),
    (N, (X[0],), {}, "logits has 2"),
    (N, (X, X[:, 0].float()), {}, "p has logits'"),
    (N, (X, X), {}, "p has 1"),
    (N, (X, X[0]), {}, "p has a value"),
    (N, (X, None, E32.long()), {}, "k is int32"),
    (N, (X, None, E32[None]), {}, "k has 1"),
    (N, (X, None, E32[:1]), {}, "k has a value"),
]


def adam(out, grad=X, top=None, amsgrad=False):
    return (0.9, 0.99, 0.1, 0.0, 0.9, 0.99, 1e-8, grad, top, amsgrad, False), dict(out=out)


N = "npu_apply_adam_w"
BROKEN += [
    (N, *adam([X, X]), "out is"),
    (N, *adam([X.double()] * 3, X.double()), "var is float16"),
    (N, *adam([X[0, 0]] * 3, X[0, 0]), "var has at least"),
    (N, *adam([X.expand(*[1] * 7, 2, 16)] * 3), "var has at most"),
    (N, *adam([X, X.float(), X]), "m has var's dtype"),
    (N, *adam([X, X[0], X]), "m has var's shape"),
    (N, *adam([X, X, X.float()]), "v has var's dtype"),
    (N, *adam([X, X, X[0]]), "v has var's shape"),
    (N, *adam([X, X, X], X.float()), "grad has var's dtype"),
    (N, *adam([X, X, X], X[0]), "grad has var's shape"),
    (N, *adam([X, X, X], X, None, True), "amsgrad needs"),
    (N, *adam([X, X, X], X, X.float()), "max_grad_norm has var's dtype"),
    (N, *adam([X, X, X], X, X[0]), "max_grad_norm has var's shape"),
]
M = torch.ones(16, 16).half()
MHA = (M,) * 8 + (None,) * 5 + (16, 16, 16, 16, 1.0, False)


def layer(at, value):
    return MHA[:at] + (value,) + MHA[at + 1 :]


N = "npu_multi_head_attention"
NAMES = (
    "query", "key", "value", "query_weight", "key_weight", "value_weight", "attn_mask",
    "out_proj_weight", "query_bias", "key_bias", "value_bias", "out_proj_bias",
)
BROKEN += [
    (N, layer(i, M.float()), {}, name + " is float16") for i, name in enumerate(NAMES)
]
BROKEN += [
    (N, layer(13, 8), {}, "attn_head_num"),
    (N, layer(14, 8), {}, "attn_dim_per_head"),
    (N, layer(15, 8), {}, "src_len"),
    (N, layer(16, 8), {}, "tgt_len is"),
    (N, layer(16, 32), {}, "tgt_len rows"),
]


@pytest.mark.parametrize("name, args, given, message", BROKEN)
def test_limits(name, args, given, message):
    with pytest.raises(RuntimeError, match="not held.*" + message):
        getattr(npu, name)(*args, **given)


@pytest.mark.parametrize("name", sorted({case[0] for case in BROKEN}))
def test_every_limit_is_met(name):
    assert opslimits.never_met(name, [(a, g) for n, a, g, _ in BROKEN if n == name]) == []
