"""The matrix operators of ops/, against products written out here."""
import pytest
import torch
import torch.nn.functional as F

import opslimits
from npufuse import emulate

npu = emulate.module()
FLOATS = (torch.float32, torch.float16, torch.bfloat16)
TOLERANCE = {torch.float32: 1e-5, torch.float16: 4e-3, torch.bfloat16: 3e-2}


def close(actual, expected, tolerance=None):
    tolerance = tolerance or TOLERANCE[actual.dtype]
    assert actual.shape == expected.shape
    torch.testing.assert_close(
        actual.double(), expected.double(), rtol=tolerance, atol=tolerance
    )


# ---- npu_grouped_matmul ------------------------------------------------------


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("kind, values", [(0, [2, 2, 7]), (1, [2, 0, 5])])
def test_groups_of_rows(kind, values, dtype):
    """One x, one stack of weights; counts or sums; a group without rows."""
    x, w = torch.randn(7, 4).to(dtype), torch.randn(3, 4, 5).to(dtype)
    bias = torch.randn(3, 5).to(torch.float32 if dtype == torch.bfloat16 else dtype)
    (y,) = npu.npu_grouped_matmul(
        [x], [w], bias=[bias], group_list=torch.tensor(values), group_type=0,
        group_list_type=kind, split_item=3,
    )
    expected = [
        x[i].double() @ w[e].double() + bias[e].double()
        for i, e in enumerate([0, 0, 2, 2, 2, 2, 2])
    ]
    assert y.dtype == dtype
    close(y, torch.stack(expected))


def test_rows_of_no_group_and_weights_one_by_one():
    x, w = torch.randn(6, 4).half(), [torch.randn(4, 5).half() for _ in range(2)]
    (y,) = npu.npu_grouped_matmul(
        [x], w, group_list=torch.tensor([1, 4]), group_type=0, split_item=2
    )
    close(y[:4], torch.cat([x[:1].double() @ w[0].double(), x[1:4].double() @ w[1].double()]))
    assert y.shape == (6, 5) and (y[4:] == 0).all()


def test_groups_as_a_list_of_numbers():
    """The .List form: cumulative, no group_type, a dtype as such."""
    x, w = torch.randn(6, 4), [torch.randn(4, 5), torch.randn(4, 3)]
    results = npu.npu_grouped_matmul([x], w, group_list=[2, 6], output_dtype=torch.float32)
    assert isinstance(results, list) and len(results) == 2
    close(results[0], x[:2].double() @ w[0].double())
    close(results[1], x[2:].double() @ w[1].double())


def test_products_side_by_side():
    x = [torch.randn(2, 3, 4), torch.randn(5, 1, 6)]
    w = [torch.randn(4, 5), torch.randn(6, 2)]
    results = npu.npu_grouped_matmul(x, w, group_type=-1)
    for y, a, b in zip(results, x, w):
        close(y, torch.einsum("abk,kn->abn", a.double(), b.double()))


def test_several_to_one():
    x = [torch.randn(2, 4).half(), torch.randn(3, 4).half()]
    w = [torch.randn(4, 5).half() for _ in x]
    (y,) = npu.npu_grouped_matmul(x, w, group_type=0, split_item=3)
    close(y, torch.cat([a.double() @ b.double() for a, b in zip(x, w)]))


def test_groups_of_columns():
    """group_type 2, what the gradient of the weights needs."""
    x, w = torch.randn(7, 4), torch.randn(7, 5)
    (y,) = npu.npu_grouped_matmul(
        [x.t()], [w], group_list=torch.tensor([3, 7]), group_type=2, split_item=3
    )
    expected = [x[a:b].t().double() @ w[a:b].double() for a, b in ((0, 3), (3, 7))]
    close(y, torch.stack(expected))


@pytest.mark.parametrize("act, function", [
    (0, lambda y: y), (1, F.relu), (2, lambda y: F.gelu(y, approximate="tanh")),
    (4, lambda y: y * torch.sigmoid(1.702 * y)), (5, F.silu),
])
def test_eight_bits(act, function):
    x = torch.randint(-128, 128, (6, 40), dtype=torch.int8)
    w = torch.randint(-128, 128, (2, 40, 5), dtype=torch.int8)
    scale, tokens = torch.rand(2, 5) * 1e-3, torch.rand(6)
    (y,) = npu.npu_grouped_matmul(
        [x], [w], scale=[scale], per_token_scale=[tokens], group_type=0, split_item=3,
        group_list=torch.tensor([4, 2]), group_list_type=1, act_type=act,
        output_dtype=torch.float16,
    )
    rows = [(x[i].long() @ w[int(i > 3)].long()) * scale[int(i > 3)] * tokens[i]
            for i in range(6)]
    assert y.dtype == torch.float16
    close(y, function(torch.stack(rows).double()))


def test_grouped_matmul_drops_gradients():
    x, w = torch.randn(4, 4, requires_grad=True), torch.randn(2, 4, 5)
    (y,) = npu.npu_grouped_matmul(
        [x], [w], group_list=torch.tensor([1, 4]), group_type=0, split_item=3
    )
    assert y.requires_grad
    with pytest.warns(UserWarning, match="no backward"):
        y.sum().backward()
    assert x.grad is None


X, W = torch.randn(6, 4), torch.randn(2, 4, 5)
H, V = X.half(), W.half()
LIST = torch.tensor([2, 6])
G = dict(group_list=LIST, group_type=0, split_item=3)


def without(key, **more):
    return {**{k: v for k, v in G.items() if k != key}, **more}


GROUPED = [
    (([], [W]), G, "x has at least 1 tensor"),
    (([H] * 129, [V]), dict(group_type=0, split_item=3), "x has at most 128"),
    (([X], []), G, "weight has at least 1 tensor"),
    (([H], [V[0]] * 129), G, "weight has at most 128"),
    (([X.double()], [W.double()]), G, "x is float16"),
    (([H], [W]), G, "weight has x's dtype"),
    (([X[0]], [W]), G, "x has at least 2 axes"),
    (([X.expand(*[1] * 5, 6, 4)], [W]), G, "x has at most 6"),
    (([X[None]], [W]), G, "x has 2 axes unless"),
    (([X], [W[0, 0]]), G, "weight has 2 or 3"),
    (([X], [W.transpose(1, 2).contiguous()]), G, "K x N, not N x K"),
    (([torch.ones(1, 65536)], [torch.ones(1, 65536, 1)]), G, "x's last axis is less"),
    (([X], [torch.ones(1, 4, 65536)]), G, "weight's last axis is less"),
    (([X], [W]), without("", bias=[X, X]), "a bias for each"),
    (([X.bfloat16()], [W.bfloat16()]), without("", bias=[W[:, 0].bfloat16()]), "float32"),
    (([H], [V]), without("", bias=[W[:, 0]]), "bias has the dtype of x"),
    (([X], [W]), without("", offset=[X]), "offset is not supported"),
    (([X], [W]), without("", activation_input=[X]), "activation_input"),
    (([X], [W]), without("", activation_quant_scale=[X]), "activation_quant_scale"),
    (([X], [W]), without("", activation_quant_offset=[X]), "activation_quant_offset"),
    (([X], [W]), without("split_item", split_item=4), "0, 1, 2 or 3"),
    (([X], [W]), without("group_type"), "group_type is -1, 0 or 2"),
    (([X], [W]), without("group_list", group_list=[2, 6]), "takes no group_type"),
    (([X], [W]), dict(group_list=[6], split_item=3), "more than one value"),
    (([X], [W]), without("group_list", group_list=LIST.int()), "group_list is int64"),
    (([X], [W]), without("group_list", group_list=LIST[None]), "group_list has 1 axis"),
    (([X], [W]), dict(group_list=LIST, group_type=-1), "takes no group_list"),
    (([X], [W[0]]), dict(group_type=-1, split_item=3), "needs split_item 0 or 1"),
    (([X], [W]), without("split_item"), "needs split_item 2 or 3"),
    (([X], [W]), without("group_list"), "with one x needs group_list"),
    (([X], [W]), without("", group_list_type=3), "group_list_type is 0, 1 or 2"),
    (
        ([X], [W]),
        without("group_list", group_list=torch.ones(2, 2).long(), group_list_type=2),
        "is for int8",
    ),
    (([X], [W]), without("", act_type=3), "act_type is"),
    (([X], [W]), without("", act_type=5), "needs per_token_scale"),
    (([X], [W[0], W[1]]), G, "needs one x and one weight"),
]
BROKEN = [("npu_grouped_matmul", *case) for case in GROUPED]


# ---- npu_ffn, npu_linear -----------------------------------------------------

ACTIVATIONS = {
    "relu": F.relu, "gelu": F.gelu, "silu": F.silu,
    "fastgelu": lambda y: y * torch.sigmoid(1.702 * y),
}


@pytest.mark.parametrize("dtype", (torch.float16, torch.bfloat16), ids=str)
@pytest.mark.parametrize("name", sorted(ACTIVATIONS))
def test_ffn(name, dtype):
    x, w1, w2 = (torch.randn(s).to(dtype) for s in ((2, 3, 8), (8, 12), (12, 8)))
    b1, b2 = torch.randn(12), torch.randn(8)
    y = npu.npu_ffn(x, w1, w2, name, bias1=b1, bias2=b2)
    inner = ACTIVATIONS[name](x.double() @ w1.double() + b1.double())
    expected = inner @ w2.double() + b2.double()
    assert y.dtype == dtype
    close(y, expected, 0.02 if dtype == torch.float16 else 0.15)


@pytest.mark.parametrize("given", [
    dict(expert_tokens=[2, 0, 3]), dict(expert_tokens_index=[2, 2, 5]),
])
def test_ffn_of_experts(given):
    x, w1, w2 = (torch.randn(s).half() for s in ((5, 8), (3, 8, 12), (3, 12, 8)))
    b1 = torch.randn(3, 12).half()
    y = npu.npu_ffn(x, w1, w2, "relu", bias1=b1, **given)
    rows = [F.relu(x[i].double() @ w1[e].double() + b1[e].double()) @ w2[e].double()
            for i, e in enumerate((0, 0, 2, 2, 2))]
    close(y, torch.stack(rows), 0.02)


def test_ffn_of_halves_is_not_emulated():
    x, w1, w2 = torch.randn(5, 8).half(), torch.randn(8, 24).half(), torch.randn(12, 8).half()
    with pytest.raises(AssertionError, match="swiglu is not emulated"):
        npu.npu_ffn(x, w1, w2, "swiglu")


@pytest.mark.parametrize("dtype", (torch.float32, torch.float16), ids=str)
def test_linear(dtype):
    parts = [torch.randn(s).to(dtype) for s in ((3, 8), (5, 8), (5,))]
    ours = [t.clone().requires_grad_() for t in parts]
    wide = [t.double().requires_grad_() for t in parts]
    y, expected = npu.npu_linear(*ours), F.linear(*wide)
    assert y.dtype == dtype
    close(y, expected)
    y.sum().backward()
    expected.sum().backward()
    for a, b in zip(ours, wide):
        close(a.grad, b.grad)


def test_linear_of_integers():
    x, w = torch.randint(-9, 9, (3, 8)).int(), torch.randint(-9, 9, (5, 8)).int()
    y = npu.npu_linear(x, w)
    assert y.dtype == torch.int32 and torch.equal(y.long(), x.long() @ w.long().t())


# ---- groups with more to do --------------------------------------------------


@pytest.mark.parametrize("kind, values", [(0, [3, 3, 7]), (1, [3, 0, 4])])
def test_grouped_matmul_add(kind, values):
    x, w = torch.randn(7, 4).half(), torch.randn(7, 5).half()
    before = torch.randn(3, 4, 5)
    kept = before.clone()
    y = npu.npu_grouped_matmul_add(
        before, x, w, torch.tensor(values), group_list_type=kind
    )
    expected = kept.double()
    for i, g in enumerate((0, 0, 0, 2, 2, 2, 2)):
        expected[g] += torch.outer(x[i].double(), w[i].double())
    close(y, expected)
    assert torch.equal(before, kept)


def whole(*shape):
    return torch.randint(-128, 128, shape, dtype=torch.int8)


def test_grouped_matmul_swiglu_quant():
    x, w = whole(6, 8), whole(2, 8, 10)
    ws, xs = torch.rand(2, 10) * 1e-2, torch.rand(6)
    out, scale, offset = npu.npu_grouped_matmul_swiglu_quant(
        x, w, torch.tensor([2, 5]), ws, xs
    )
    assert out.dtype == torch.int8 and scale.dtype == torch.float32
    assert out.shape == (6, 5) and offset.shape == ()
    for i, e in enumerate((0, 0, 1, 1, 1)):
        y = (x[i].double() @ w[e].double()) * ws[e].double() * xs[i].double()
        y = F.silu(y[:5]) * y[5:]
        close(scale[i], y.abs().max() / 127, 1e-4)
        assert (out[i].double() * scale[i] - y).abs().max() <= scale[i] * 0.51
    assert (out[5] == 0).all() and scale[5] == 0


def test_grouped_matmul_finalize_routing():
    x, w, scale = whole(5, 8), whole(2, 8, 4), torch.rand(2, 4)
    token, logit = torch.rand(5), torch.rand(5)
    rows, shared = torch.tensor([2, 0, 1, 0, 2]), torch.randn(2, 4).bfloat16()
    y = npu.npu_grouped_matmul_finalize_routing(
        x, w, torch.tensor([2, 3]), scale=scale, pertoken_scale=token, logit=logit,
        row_index=rows, shared_input=shared, shared_input_weight=0.5,
        shared_input_offset=1, output_bs=3,
    )
    expected = torch.zeros(3, 4, dtype=torch.float64)
    expected[1:] += shared.double() * 0.5
    for i, e in enumerate((0, 0, 1, 1, 1)):
        row = (x[i].double() @ w[e].double()) * scale[e].double()
        expected[rows[i]] += row * token[i].double() * logit[i].double()
    assert y.dtype == torch.float32
    close(y, expected, 1e-4)


# ---- one product, quantised --------------------------------------------------


@pytest.mark.parametrize("bias", (torch.int32, torch.float32, None))
@pytest.mark.parametrize("out", (None, 5, torch.bfloat16))
def test_quant_matmul(out, bias):
    x, w = whole(2, 3, 8), whole(8, 4)
    scale, token = torch.rand(4) * 1e-2, torch.rand(3)
    b = None if bias is None else (torch.randn(4) * 100).to(bias)
    y = npu.npu_quant_matmul(
        x, w, scale, pertoken_scale=token, bias=b, output_dtype=out
    )
    exact = x.double() @ w.double()
    if bias == torch.int32:
        exact = exact + b
    exact = exact * scale.double() * token.double().unsqueeze(-1)
    if bias == torch.float32:
        exact = exact + b.double()
    if out is None:
        assert y.dtype == torch.int8
        assert (y.double() - exact.clamp(-128, 127)).abs().max() <= 0.51
    else:
        assert y.dtype == (torch.float16 if out == 5 else out)
        close(y, exact)


def test_quant_matmul_to_int32():
    x, w = whole(3, 8), whole(8, 4)
    y = npu.npu_quant_matmul(x, w, torch.ones(1), output_dtype=torch.int32)
    assert torch.equal(y.long(), x.long() @ w.long())


@pytest.mark.parametrize("group, shape", [(0, (1,)), (0, (6,)), (0, (1, 6)), (32, (2, 6))])
def test_weight_quant(group, shape):
    x, w = torch.randn(3, 40).bfloat16() / 8, whole(40, 6)
    scale, offset = torch.rand(shape).bfloat16() / 8, torch.randn(shape).bfloat16()
    bias = torch.randn(6)
    y = npu.npu_weight_quant_batchmatmul(
        x, w, scale, offset, bias=bias, antiquant_group_size=group
    )
    rows = []
    for k in range(40):
        pick = k // 32 if group else 0
        s, o = (t.double() if not group else t[pick].double() for t in (scale, offset))
        rows.append((w[k].double() + o) * s)
    expected = x.double() @ torch.stack([r.reshape(-1) for r in rows]) + bias.double()
    assert y.dtype == torch.bfloat16
    close(y, expected, 0.05)


# ---- limits ------------------------------------------------------------------

K = torch.randn(6, 8).half()
W1, W2 = torch.randn(8, 12).half(), torch.randn(12, 8).half()
S1, S2 = torch.randn(2, 8, 12).half(), torch.randn(2, 12, 8).half()
NARROW, THIN = torch.ones(65536, 1).half(), torch.ones(1, 65536).half()
N = "npu_ffn"
BROKEN += [
    (N, (K.float(), W1, W2, "relu"), {}, "x is float16"),
    (N, (K[0], W1, W2, "relu"), {}, "x has at least"),
    (N, (K.expand(*[1] * 7, 6, 8), W1, W2, "relu"), {}, "x has at most"),
    (N, (K, W1.bfloat16(), W2, "relu"), {}, "weight1 has x's"),
    (N, (K, W1, W2.bfloat16(), "relu"), {}, "weight2 has weight1's"),
    (N, (K, W1[0], W2, "relu"), {}, "weight1 has 2 axes"),
    (N, (K, W1, S2, "relu"), {}, "as many axes"),
    (N, (K, W2, W2, "relu"), {}, "K x N, not N x K"),
    (N, (K, W1, W2[:, :4], "relu"), {}, "weight2's last axis is x's"),
    (N, (THIN, NARROW, THIN, "relu"), {}, "x's last axis is less"),
    (N, (K[:, :1], THIN, NARROW, "relu"), {}, "but one is less"),
    (N, (K, W1, W2, "tanh"), {}, "activation is"),
    (N, (K, W1, W2[:4], "relu"), {}, "weight2's last but one"),
    (N, (K, W1, W2, "swiglu"), {}, "twice"),
    (N, (K.bfloat16(), W1.bfloat16(), W2[:6].bfloat16(), "swiglu"), {}, "are for float16"),
    (N, (K, S1, S2[:, :6], "swiglu"), dict(expert_tokens=[6, 0]), "no experts"),
    (
        N, (K, S1, S2, "relu"), dict(expert_tokens=[6, 0], expert_tokens_index=[6, 6]),
        "not given together",
    ),
    (N, (K, S1, S2, "relu"), {}, "experts need"),
    (N, (K, S1, S2, "relu"), dict(expert_tokens=[0] * 257), "256 experts"),
    (N, (K, S1, S2, "relu"), dict(expert_tokens_index=[0] * 257), "256 experts"),
    (N, (K, W1, W2, "relu"), dict(bias1=K.bfloat16()), "bias1 is"),
    (N, (K, W1, W2, "relu"), dict(bias2=K.bfloat16()), "bias2 is"),
    (N, (K, W1, W2, "relu"), dict(inner_precise=2), "0 or 1"),
    (
        N, (K.bfloat16(), W1.bfloat16(), W2.bfloat16(), "relu"), dict(inner_precise=1),
        "0 for bfloat16",
    ),
]
N = "npu_linear"
BROKEN += [
    (N, (K.bfloat16(), K), {}, "input is float32"),
    (N, (K[None], K), {}, "input has 2"),
    (N, (K, K.float()), {}, "weight has input's"),
    (N, (K, K[0]), {}, "weight has 2"),
    (N, (K, K[:, :4]), {}, "as wide as"),
    (N, (K, K, K[0].bfloat16()), {}, "bias is"),
    (N, (K, K, K), {}, "bias has 1"),
    (N, (K, K, K[0]), {}, "for each output"),
]
SUM, GL = torch.zeros(2, 8, 8), torch.tensor([2, 6])
WIDE = torch.ones(6, 65536).half()
N = "npu_grouped_matmul_add"
BROKEN += [
    (N, (SUM.half(), K, K, GL), {}, "input is float32"),
    (N, (SUM[0], K, K, GL), {}, "input has 3"),
    (N, (SUM, K.float(), K, GL), {}, "x is float16"),
    (N, (SUM, K[0], K, GL), {}, "x has 2"),
    (N, (SUM, K, K.bfloat16(), GL), {}, "weight has x's"),
    (N, (SUM, K, K[0], GL), {}, "weight has 2"),
    (N, (SUM, K, K[:5], GL), {}, "one number of rows"),
    (N, (SUM, K[:, :4], K, GL), {}, "second axis"),
    (N, (SUM, K, K[:, :4], GL), {}, "last axis is weight's"),
    (N, (torch.ones(2, 65536, 8), WIDE, K, GL), {}, "x's last axis is less"),
    (N, (torch.ones(2, 8, 65536), K, WIDE, GL), {}, "weight's last axis is less"),
    (N, (SUM, K, K, GL.int()), {}, "group_list is int64"),
    (N, (SUM, K, K, GL[None]), {}, "group_list has 1"),
    (N, (SUM, K, K, GL[:1]), {}, "a sum for each"),
    (N, (SUM[:1].expand(1025, 8, 8), K, K, GL[:1].expand(1025)), {}, "at most 1024"),
    (N, (SUM, K, K, GL), dict(transpose_x=False), "transpose_x"),
    (N, (SUM, K, K, GL), dict(transpose_weight=True), "transpose_weight"),
    (N, (SUM, K, K, GL), dict(group_type=0), "group_type is 2"),
    (N, (SUM, K, K, GL), dict(group_list_type=2), "group_list_type is"),
]
Q, QW, QS, QX = whole(6, 8), whole(2, 8, 10), torch.rand(2, 10), torch.rand(6)
N = "npu_grouped_matmul_swiglu_quant"
BROKEN += [
    (N, (K, QW, GL, QS, QX), {}, "x is int8"),
    (N, (Q[0], QW, GL, QS, QX), {}, "x has 2"),
    (N, (Q, QW.half(), GL, QS, QX), {}, "weight is int8"),
    (N, (Q, QW[0], GL, QS, QX), {}, "weight has 3"),
    (N, (Q, QW, GL.int(), QS, QX), {}, "group_list is int64"),
    (N, (Q, QW, GL[None], QS, QX), {}, "group_list has 1"),
    (N, (Q, QW, GL[:1], QS, QX), {}, "a group for each"),
    (N, (Q, QW, GL, QS.double(), QX), {}, "weight_scale is"),
    (N, (Q, QW, GL, QS[0], QX), {}, "weight_scale has 2"),
    (N, (Q, QW, GL, QS[:1], QX), {}, "a row for each"),
    (N, (Q, QW, GL, QS[:, :9], QX), {}, "even width"),
    (N, (Q, QW, GL, QS, QX.half()), {}, "x_scale is"),
    (N, (Q, QW, GL, QS, QX[None]), {}, "x_scale has 1"),
    (N, (Q, QW, GL, QS, QX[:5]), {}, "value for each row"),
    (N, (Q, QW, GL, QS, QX), dict(bias=Q), "bias is not"),
    (N, (Q, QW, GL, QS, QX), dict(offset=Q), "offset is not"),
]
N = "npu_grouped_matmul_finalize_routing"
BROKEN += [
    (N, (K, QW, GL), {}, "x is int8"),
    (N, (Q[0], QW, GL), {}, "x has 2"),
    (N, (Q[:1, :1].expand(131073, 1), QW, GL), {}, "at most 131072"),
    (N, (Q.t(), QW, GL), {}, "x is contiguous"),
    (N, (Q, QW.half(), GL), {}, "w is int8"),
    (N, (Q, QW[0], GL), {}, "w has 3"),
    (N, (Q, QW[:1, :1, :1].expand(257, 1, 1), GL), {}, "at most 256"),
    (N, (Q, QW, GL.int()), {}, "group_list is int64"),
    (N, (Q, QW, GL[None]), {}, "group_list has 1"),
    (N, (Q, QW, GL[:1]), {}, "a group for each"),
    (N, (Q, QW, GL), dict(group_list_type=2), "group_list_type is"),
    (N, (Q, QW, GL), dict(scale=QS.half()), "scale of an int8"),
    (N, (Q, QW, GL), dict(bias=QS), "bias is for"),
    (N, (Q, QW, GL), dict(offset=QS), "offset is for"),
    (N, (Q, QW, GL), dict(pertoken_scale=QX.half()), "pertoken_scale is"),
    (N, (Q, QW, GL), dict(pertoken_scale=QX[:5]), "pertoken_scale has"),
    (N, (Q, QW, GL), dict(shared_input=QS), "shared_input is"),
    (N, (Q, QW, GL), dict(shared_input=QX.bfloat16()), "shared_input has 2"),
    (N, (Q, QW, GL), dict(logit=QX.half()), "logit is"),
    (N, (Q, QW, GL), dict(logit=QX[:5]), "logit has"),
    (N, (Q, QW, GL), dict(row_index=QX), "row_index is"),
    (N, (Q, QW, GL), dict(row_index=GL), "row_index has"),
    (N, (Q, QW, GL), dict(dtype=torch.float16), "dtype is float32"),
]
SIX, ONE = Q.expand(1, 1, 1, 1, 1, 6, 8), torch.ones(1)
QK = whole(8, 10)
LONG = whole(1, 1).expand(1, 65536)
N = "npu_quant_matmul"
BROKEN += [
    (N, (K, QK, ONE), {}, "x1 is int8"),
    (N, (Q, QK.half(), ONE), {}, "x2 is int8"),
    (N, (Q[0], QK, ONE), {}, "x1 has at least"),
    (N, (SIX, QK, ONE), {}, "x1 has at most"),
    (N, (Q, QK[0], ONE), {}, "x2 has at least"),
    (N, (Q, QK.expand(1, 1, 1, 1, 1, 8, 10), ONE), {}, "x2 has at most"),
    (N, (Q, QK.t(), ONE), {}, "K x N, not N x K"),
    (N, (LONG, LONG.t(), ONE), {}, "x1's last axis is at most"),
    (N, (Q[:, :1], LONG, ONE), {}, "x2's last axis is at most"),
    (N, (Q, QK, ONE.half()), {}, "scale is"),
    (N, (Q, QK, ONE.view(1, 1, 1)), {}, "scale has 1 axis"),
    (N, (Q, QK, ONE.expand(3)), {}, "for each column"),
    (N, (Q, QK, ONE), dict(offset=ONE.bfloat16()), "offset is"),
    (N, (Q, QK, ONE), dict(pertoken_scale=QX.half()), "pertoken_scale is"),
    (N, (Q, QK, ONE), dict(pertoken_scale=QX[:5]), "pertoken_scale has"),
    (N, (Q, QK, ONE), dict(bias=ONE.double()), "bias is"),
    (N, (Q, QK, ONE), dict(bias=ONE[None]), "bias has 1"),
    (N, (Q, QK, ONE), dict(output_dtype=torch.float32), "output_dtype is"),
    (N, (Q, QK, ONE), dict(group_sizes=[1, 1]), "group_sizes has 3"),
]
HALF = ONE.half()
B16 = K.bfloat16()
N = "npu_weight_quant_batchmatmul"
BROKEN += [
    (N, (K.float(), QK, ONE), {}, "x is float16"),
    (N, (K[None], QK, HALF), {}, "x has 2"),
    (N, (K, QK.half(), HALF), {}, "weight is int8"),
    (N, (K, QW, HALF), {}, "weight has 2"),
    (N, (K, QK.t(), HALF), {}, "K x N, not N x K"),
    (N, (THIN, LONG.t(), HALF), {}, "x's last axis is at most"),
    (N, (K[:, :1], LONG, HALF), {}, "weight's last axis is at most"),
    (N, (K, QK, ONE), {}, "antiquant_scale has x's"),
    (N, (K, QK, HALF, ONE), {}, "antiquant_offset has x's"),
    (N, (K, QK, HALF, HALF.expand(10)), {}, "antiquant_scale's shape"),
    (N, (K, QK, HALF), dict(quant_offset=ONE), "needs quant_scale"),
    (N, (K, QK, HALF), dict(bias=ONE), "bias of a float16"),
    (N, (B16, QK, ONE.bfloat16()), dict(bias=ONE.bfloat16()), "bias of a bfloat16"),
    (N, (K, QK, HALF), dict(antiquant_group_size=16), "at least 32"),
    (N, (K, QK, HALF), dict(antiquant_group_size=40), "multiple of 32"),
    (N, (K, QK, HALF), dict(inner_precise=2), "inner_precise is"),
]


@pytest.mark.parametrize("name, args, given, message", BROKEN)
def test_limits(name, args, given, message):
    with pytest.raises(RuntimeError, match="not held.*" + message):
        getattr(npu, name)(*args, **given)


@pytest.mark.parametrize("name", sorted({case[0] for case in BROKEN}))
def test_every_limit_is_met(name):
    assert opslimits.never_met(name, [(a, g) for n, a, g, _ in BROKEN if n == name]) == []


def test_group_lists_that_fit_no_weight():
    call = npu.npu_grouped_matmul
    with pytest.raises(RuntimeError, match="negative size"):
        call([X], [W], **without("group_list", group_list=torch.tensor([4, 2])))
    with pytest.raises(RuntimeError, match="more groups than"):
        call([X], [W], **without("group_list", group_list=torch.tensor([1, 2, 6])))
