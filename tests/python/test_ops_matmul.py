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
