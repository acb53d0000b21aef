"""The mixture-of-experts operators of ops/, against loops over tokens."""
import pytest
import torch

import opslimits
from npufuse import emulate

npu = emulate.module()
DTYPES = (torch.float32, torch.float16, torch.bfloat16)
TOLERANCE = {torch.float32: 1e-5, torch.float16: 4e-3, torch.bfloat16: 3e-2}


def close(actual, expected, tolerance=None):
    tolerance = tolerance or TOLERANCE[actual.dtype]
    assert actual.shape == expected.shape
    torch.testing.assert_close(
        actual.double(), expected.double(), rtol=tolerance, atol=tolerance
    )


def routed(tokens=6, experts=5, topk=2):
    """Different experts for each token: (tokens, topk)."""
    return torch.stack([torch.randperm(experts)[:topk] for _ in range(tokens)])


def copies(indices):
    """(expert, token, slot) of each copy, sorted by expert: a stable sort."""
    found = [(int(e), t, s) for t, row in enumerate(indices) for s, e in enumerate(row)]
    return sorted(found, key=lambda c: c[0])


# ---- permute and unpermute ---------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("index", (torch.int32, torch.int64), ids=str)
def test_permute(dtype, index):
    x = torch.randn(6, 8).to(dtype).requires_grad_()
    indices = routed()
    y, places = npu.npu_moe_token_permute(x, indices.to(index))
    assert places.dtype == torch.int32 and places.shape == (12,)
    order = copies(indices)
    assert torch.equal(y, torch.stack([x[t] for _, t, _ in order]))
    for i in range(12):  # the docstring's own sentence
        assert torch.equal(y[places[i]], x[i // 2])
    weight = torch.randn(12, 8).to(dtype)
    y.backward(weight)
    expected = torch.zeros(6, 8, dtype=torch.float64)
    for row, (_, t, _) in zip(weight, order):
        expected[t] += row.double()
    close(x.grad, expected)


@pytest.mark.parametrize("kept, rows", [(None, 12), (0, 12), (5, 5), (99, 12), (-3, 9)])
def test_permute_keeps_some(kept, rows):
    x, indices = torch.randn(6, 8), routed()
    y, places = npu.npu_moe_token_permute(x, indices, kept)
    whole = npu.npu_moe_token_permute(x, indices)
    assert torch.equal(y, whole[0][:rows]) and torch.equal(places, whole[1])


def test_permute_of_one_expert_each():
    x, indices = torch.randn(4, 8), torch.tensor([2, 0, 2, 1])
    y, places = npu.npu_moe_token_permute(x, indices)
    assert torch.equal(y, x[[1, 3, 0, 2]]) and places.tolist() == [2, 0, 3, 1]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_unpermute(dtype):
    rows = torch.randn(12, 8).to(dtype).requires_grad_()
    probs = torch.rand(6, 2).to(dtype).requires_grad_()
    places = torch.randperm(12).to(torch.int32)
    y = npu.npu_moe_token_unpermute(rows, places, probs)
    wide, p = (t.detach().double().requires_grad_() for t in (rows, probs))
    expected = torch.stack(
        [sum(wide[places[2 * t + s]] * p[t, s] for s in range(2)) for t in range(6)]
    )
    assert y.dtype == dtype
    close(y, expected)
    weight = torch.randn(6, 8).to(dtype)
    y.backward(weight)
    expected.backward(weight.double())
    close(rows.grad, wide.grad)
    close(probs.grad, p.grad, TOLERANCE[dtype] * 4)


def test_unpermute_without_probs_sums_nothing():
    rows, places = torch.randn(12, 8), torch.randperm(12).to(torch.int32)
    y = npu.npu_moe_token_unpermute(rows, places)
    assert torch.equal(y, rows[places.long()])


def test_there_and_back():
    x, indices = torch.randn(6, 8), routed()
    probs = torch.rand(6, 2)
    y, places = npu.npu_moe_token_permute(x, indices)
    close(npu.npu_moe_token_unpermute(y, places, probs), x * probs.sum(1, keepdim=True))


def chosen(tokens=6, experts=5, topk=2):
    picked = torch.zeros(tokens, experts, dtype=torch.bool)
    return picked.scatter(1, routed(tokens, experts, topk), True)


@pytest.mark.parametrize("kind", (torch.int8, torch.bool), ids=str)
def test_routing_map(kind):
    x = torch.randn(6, 8, requires_grad=True)
    probs = torch.rand(6, 5, requires_grad=True)
    table = chosen()
    y, p, places = npu.npu_moe_token_permute_with_routing_map(
        x, table.to(kind), probs=probs, num_out_tokens=12
    )
    pairs = [(e, t) for e in range(5) for t in range(6) if table[t, e]]
    assert torch.equal(y, torch.stack([x[t] for _, t in pairs]))
    assert torch.equal(p, torch.stack([probs[t, e] for e, t in pairs]))
    assert places.dtype == torch.int32
    for i in range(12):
        assert torch.equal(y[places[i]], x[i // 2])
    back = npu.npu_moe_token_unpermute_with_routing_map(
        y, places, [6, 8], probs=probs, routing_map=table.to(kind)
    )
    sums = (probs * table).sum(1, keepdim=True)
    close(back, x * sums)
    ours = torch.autograd.grad(back.pow(2).sum(), (x, probs))
    theirs = torch.autograd.grad((x * sums).pow(2).sum(), (x, probs))
    for a, b in zip(ours, theirs):
        close(a, b, 1e-4)


def test_routing_map_without_probs():
    x, table = torch.randn(3, 4), torch.ones(3, 2, dtype=torch.int8)
    y, p, places = npu.npu_moe_token_permute_with_routing_map(x, table, num_out_tokens=6)
    assert p is None and torch.equal(y, torch.cat([x, x]))
    back = npu.npu_moe_token_unpermute_with_routing_map(y, places, [3, 4])
    close(back, 2 * x)


def test_routing_map_with_the_default_count_is_of_one_expert():
    x = torch.randn(3, 4)
    npu.npu_moe_token_permute_with_routing_map(x, torch.eye(3, dtype=torch.bool))
    with pytest.raises(RuntimeError, match="not the number of experts of each token"):
        npu.npu_moe_token_permute_with_routing_map(x, torch.ones(3, 2, dtype=torch.bool))


def test_routing_map_with_padding():
    """Each expert's first tokens; then those that it does not have."""
    x = torch.randn(4, 3, requires_grad=True)
    table = torch.tensor([[1, 0], [0, 1], [1, 1], [1, 0]], dtype=torch.int8)
    probs = torch.rand(4, 2, requires_grad=True)
    y, p, tokens = npu.npu_moe_token_permute_with_routing_map(
        x, table, probs=probs, num_out_tokens=6, drop_and_pad=True
    )
    assert tokens.tolist() == [0, 2, 3, 1, 2, 0]
    assert torch.equal(y, x[[0, 2, 3, 1, 2, 0]])
    assert torch.equal(p, probs[[0, 2, 3, 1, 2, 0], [0, 0, 0, 1, 1, 1]])
    back = npu.npu_moe_token_unpermute_with_routing_map(
        y, tokens, [4, 3], probs=probs, routing_map=table, drop_and_pad=True
    )
    expected = torch.zeros(4, 3)
    for row, (t, e) in enumerate(zip([0, 2, 3, 1, 2, 0], [0, 0, 0, 1, 1, 1])):
        expected[t] += (y[row] * probs[t, e]).detach()
    close(back, expected)


# ---- gating ------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(7, 9), (2, 3, 9)])
def test_softmax_gate(shape, dtype):
    x = torch.randn(shape).to(dtype)
    y, experts, rows = npu.npu_moe_gating_top_k_softmax(x, k=4)
    values, index = x.double().softmax(-1).topk(4)
    assert y.dtype == dtype and experts.dtype == rows.dtype == torch.int32
    close(y, values)
    if dtype == torch.float32:  # no equal values
        assert torch.equal(experts.long(), index)
    count = x[..., 0].numel()
    flat = rows.reshape(count, 4)
    assert [flat[t, s].item() for t in (0, 1) for s in range(4)] == [
        s * count + t for t in (0, 1) for s in range(4)
    ]


def test_softmax_gate_of_finished_rows_and_ties():
    x = torch.zeros(3, 4)
    done = torch.tensor([False, True, False])
    y, experts, _ = npu.npu_moe_gating_top_k_softmax(x, done, 2)
    assert experts.tolist() == [[0, 1], [4, 4], [0, 1]]
    close(y, torch.full((3, 2), 0.25))


def test_softmax_gate_has_no_backward():
    x = torch.randn(3, 4, requires_grad=True)
    y = npu.npu_moe_gating_top_k_softmax(x, k=2)[0]
    with pytest.raises(RuntimeError, match="no backward"):
        y.sum().backward()


@pytest.mark.parametrize("shape", [(7, 9), (2, 3, 9)])
def test_softmax_gate_v2(shape):
    x = torch.randn(shape)
    values, index = x.double().topk(3)
    y, experts, whole = npu.npu_moe_gating_top_k_softmax_v2(x, k=3, renorm=1)
    close(y, values.softmax(-1))
    assert torch.equal(experts.long(), index) and whole.shape == (0,)
    y, experts, whole = npu.npu_moe_gating_top_k_softmax_v2(x, k=3, output_softmax=True)
    close(y, x.double().softmax(-1).topk(3).values)
    assert torch.equal(experts.long(), index) and whole.dtype == torch.float32
    close(whole, x.double().softmax(-1))
    done = torch.ones(shape[:-1], dtype=torch.bool)
    experts = npu.npu_moe_gating_top_k_softmax_v2(x, k=3, finished=done, renorm=1)[1]
    assert (experts == 9).all()


def picks(scores, bias, k, k_group, group_count, mode):
    """The experts of one token, as a list."""
    rank = [s + b for s, b in zip(scores.tolist(), bias.tolist())]
    size = len(rank) // group_count
    worth = []
    for g in range(group_count):
        part = sorted(rank[g * size : (g + 1) * size], reverse=True)
        worth.append(part[0] if mode == 0 else part[0] + part[1])
    best = sorted(range(group_count), key=lambda g: -worth[g])[:k_group]
    allowed = [e for e in range(len(rank)) if e // size in best]
    return sorted(allowed, key=lambda e: -rank[e])[:k]


@pytest.mark.parametrize("kind", (0, 1))
@pytest.mark.parametrize("mode", (0, 1))
@pytest.mark.parametrize("k_group, group_count", [(1, 1), (2, 4), (4, 4)])
def test_gate_with_groups(k_group, group_count, mode, kind):
    x = torch.randn(6, 16, requires_grad=True)
    bias = torch.randn(16)
    y, experts, scores = npu.npu_moe_gating_top_k(
        x, 3, bias=bias, k_group=k_group, group_count=group_count,
        group_select_mode=mode, norm_type=kind, out_flag=True,
        routed_scaling_factor=2.5,
    )
    wide = x.detach().double().requires_grad_()
    full = wide.sigmoid() if kind else wide.softmax(-1)
    index = torch.tensor(
        [picks(row, bias.double(), 3, k_group, group_count, mode) for row in full]
    )
    assert torch.equal(experts.long(), index) and experts.dtype == torch.int32
    expected = torch.stack([full[t, index[t]] for t in range(6)])
    if kind:
        expected = expected / (expected.sum(-1, keepdim=True) + 1e-20)
    close(y, expected * 2.5)
    close(scores, full)
    y.pow(2).sum().backward()
    (expected * 2.5).pow(2).sum().backward()
    close(x.grad, wide.grad, 1e-4)


def test_gate_by_table():
    x = torch.randn(3, 4)
    table = torch.tensor([[1, 2], [3, 0]])
    y, experts, _ = npu.npu_moe_gating_top_k(
        x, 2, input_ids=torch.tensor([1, 0, 1]), tid2eid=table
    )
    assert experts.tolist() == [[3, 0], [1, 2], [3, 0]]
    p = x.double().softmax(-1)
    close(y, torch.stack([p[0, [3, 0]], p[1, [1, 2]], p[2, [3, 0]]]))


# ---- routing for inference ---------------------------------------------------


def test_init_routing_after_the_gate():
    x = torch.randn(5, 3)
    _, experts, rows = npu.npu_moe_gating_top_k_softmax(torch.randn(5, 4), k=2)
    for kept in (99, 3):
        y, places, found = npu.npu_moe_init_routing(x, rows, experts, kept)
        pairs = [(int(experts[t, s]), s * 5 + t) for t in range(5) for s in range(2)]
        order = sorted(range(10), key=lambda i: pairs[i][0])
        chosen_rows = [pairs[i][1] for i in order]
        assert found.tolist() == [pairs[i][0] for i in order]
        assert torch.equal(y, x[[r % 5 for r in chosen_rows]][: min(kept, 5) * 2])
        assert [places[r].item() for r in chosen_rows] == list(range(10))
        assert places.dtype == found.dtype == torch.int32


def test_routing_there_and_back():
    """init, then finalize: each token times the sum of its weights."""
    x = torch.randn(5, 3)
    y, experts, rows = npu.npu_moe_gating_top_k_softmax(torch.randn(5, 4), k=2)
    copies_, places, _ = npu.npu_moe_init_routing(x, rows, experts, 5)
    out = npu.npu_moe_finalize_routing(copies_, None, None, None, y, places, None)
    close(out, x * y.sum(1, keepdim=True))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("mode", (0, 1, 2, 3))
def test_finalize_routing(mode, dtype):
    rows = torch.randn(10, 3).to(dtype)
    skip1, skip2, bias = (torch.randn(n, 3).to(dtype) for n in (5, 5, 4))
    scales, experts = torch.rand(5, 2).to(dtype), torch.randint(4, (5, 2))
    index = torch.randperm(10)
    if mode in (1, 3):
        index[3] = -1
    out = npu.npu_moe_finalize_routing(
        rows.view(2, 5, 3) if mode in (1, 3) else rows, skip1, skip2, bias, scales,
        index.int(), experts.int(), mode,
    )
    expected = skip1.double() + skip2.double()
    for i in range(5):
        for k in range(2):
            at = int(index[k * 5 + i] if mode < 2 else index[i * 2 + k])
            row = rows[at].double() if at >= 0 else 0.0
            expected[i] += scales[i, k].double() * (row + bias[experts[i, k]].double())
    assert out.dtype == dtype
    close(out, expected)


def test_finalize_routing_with_k_in_place_of_scales():
    rows, index = torch.randn(6, 3), torch.randperm(6).int()
    out = npu.npu_moe_finalize_routing(rows, None, None, None, None, index, None, 2, k=2)
    close(out, rows[index.long()].double().view(3, 2, 3).sum(1))


def test_expert_tokens_are_cumulative():
    experts = torch.tensor([0, 0, 2, 2, 2, 3], dtype=torch.int32)
    ends = npu.npu_moe_compute_expert_tokens(experts, 5)
    assert ends.tolist() == [2, 2, 5, 6, 6] and ends.dtype == torch.int32


@pytest.mark.parametrize("kind", (0, 1))
@pytest.mark.parametrize("some", ([], [1, 3]))
@pytest.mark.parametrize("most", (-1, 3))
def test_init_routing_v2(most, some, kind):
    x, scale, experts = torch.randn(4, 3), torch.rand(4), torch.randint(5, (4, 2))
    y, index, counts, scales = npu.npu_moe_init_routing_v2(
        x, experts.int(), scale=scale, active_num=most, expert_num=5,
        active_expert_range=some, expert_tokens_num_flag=True,
        expert_tokens_num_type=1, row_idx_type=kind,
    )
    first, last = some or (0, 5)
    flat = experts.flatten().tolist()
    order = sorted((i for i in range(8) if first <= flat[i] < last), key=lambda i: flat[i])
    rows = 8 if most < 0 else most
    assert y.shape == (rows, 3) and scales.shape == (rows,)
    for place, i in enumerate(order[:rows]):
        assert torch.equal(y[place], x[i // 2]) and scales[place] == scale[i // 2]
    if kind == 1:
        assert index[: len(order)].tolist() == order
    else:
        places = [order.index(i) if i in order else -1 for i in range(8)]
        assert index.tolist() == places
    assert counts.tolist() == [flat.count(e) for e in range(first, last)]
    assert counts.dtype == torch.int64 and index.dtype == torch.int32


def test_init_routing_v2_counts():
    x, experts = torch.randn(3, 3), torch.tensor([[0, 3], [3, 1], [3, 0]]).int()
    given = dict(expert_num=4, expert_tokens_num_flag=True)
    cumulative = npu.npu_moe_init_routing_v2(x, experts, **given)[2]
    assert cumulative.tolist() == [2, 3, 3, 6]
    table = npu.npu_moe_init_routing_v2(x, experts, expert_tokens_num_type=2, **given)[2]
    assert table.tolist() == [[0, 2], [1, 1], [3, 3], [0, 0]]
    assert npu.npu_moe_init_routing_v2(x, experts, expert_num=4)[2].shape == ()


def test_re_routing():
    """Two ranks, three experts: by rank, then by expert, becomes by expert."""
    counts = torch.tensor([[1, 2, 1], [2, 0, 1]])
    tokens, scales = torch.arange(14).view(7, 2).half(), torch.rand(7)
    y, s, index, found = npu.npu_moe_re_routing(tokens, counts, per_token_scales=scales)
    order = [0, 4, 5, 1, 2, 3, 6]
    assert index.tolist() == order and index.dtype == torch.int32
    assert torch.equal(y, tokens[order]) and torch.equal(s, scales[order])
    assert found.tolist() == [3, 2, 2] and found.dtype == counts.dtype
    s = npu.npu_moe_re_routing(tokens, counts.int())[1]
    assert s.shape == (7,) and s.dtype == torch.float32


# ---- limits ------------------------------------------------------------------

X = torch.randn(4, 8)
I = torch.zeros(4, 2, dtype=torch.int64)
MAP = torch.ones(4, 2, dtype=torch.bool)
S = torch.arange(8, dtype=torch.int32)
ROWS = torch.randn(8, 8)
P = torch.rand(4, 2)
G = torch.randn(4, 12)
HUGE = torch.empty(1, dtype=torch.int32).expand(1, 16777215)
BROKEN = [
    ("npu_moe_token_permute", (X.double(), I), {}, "tokens is float16"),
    ("npu_moe_token_permute", (X[0], I), {}, "tokens has 2"),
    ("npu_moe_token_permute", (X, I.short()), {}, "indices is int32"),
    ("npu_moe_token_permute", (X, I[..., None]), {}, "indices has 1 or 2"),
    ("npu_moe_token_permute", (X, I[:3]), {}, "indices has a row"),
    ("npu_moe_token_permute", (X[:1], HUGE), {}, "16777215"),
    ("npu_moe_token_permute", (X, I, None, True), {}, "padded_mode"),
    ("npu_moe_token_unpermute", (ROWS.double(), S), {}, "permuted_tokens is"),
    ("npu_moe_token_unpermute", (ROWS[0], S), {}, "permuted_tokens has 2"),
    ("npu_moe_token_unpermute", (ROWS, S.long()), {}, "sorted_indices is int32"),
    ("npu_moe_token_unpermute", (ROWS, S[None]), {}, "sorted_indices has 1"),
    ("npu_moe_token_unpermute", (ROWS, S, P.double()), {}, "probs is float16"),
    ("npu_moe_token_unpermute", (ROWS, S, P[0]), {}, "probs has 2"),
    ("npu_moe_token_unpermute", (ROWS, S, torch.ones(1, 513)), {}, "at most 512"),
    ("npu_moe_token_unpermute", (ROWS, S, P[:3]), {}, "a value for each index"),
    ("npu_moe_token_unpermute", (ROWS, S, None, True), {}, "padded_mode"),
    ("npu_moe_token_unpermute", (ROWS, S, None, False, [4, 8]), {}, "restore_shape"),
    ("npu_moe_token_permute_with_routing_map", (X.double(), MAP), {}, "tokens is"),
    ("npu_moe_token_permute_with_routing_map", (X[0], MAP), {}, "tokens has 2"),
    ("npu_moe_token_permute_with_routing_map", (X, MAP.int()), {}, "int8 or bool"),
    ("npu_moe_token_permute_with_routing_map", (X, MAP[0]), {}, "routing_map has 2"),
    ("npu_moe_token_permute_with_routing_map", (X, MAP[:3]), {}, "routing_map has a row"),
    ("npu_moe_token_permute_with_routing_map", (X, MAP), dict(probs=P.half()), "tokens' dtype"),
    ("npu_moe_token_permute_with_routing_map", (X, MAP), dict(probs=P[:3]), "map's shape"),
    (
        "npu_moe_token_permute_with_routing_map",
        (X[:1].expand(16777215, 8), MAP[:1].expand(16777215, 2)), {}, "16777215 tokens",
    ),
    (
        "npu_moe_token_permute_with_routing_map",
        (X[:1], MAP[:1, :1].expand(1, 16777215)), {}, "16777215 experts",
    ),
    ("npu_moe_token_permute_with_routing_map", (X, MAP), dict(num_out_tokens=-1), "negative"),
    ("npu_moe_token_permute_with_routing_map", (X, MAP), dict(num_out_tokens=9), "times experts"),
    (
        "npu_moe_token_permute_with_routing_map", (X, torch.ones(4, 600).bool()),
        dict(num_out_tokens=2048), "fewer than 512",
    ),
    (
        "npu_moe_token_unpermute_with_routing_map", (ROWS.double(), S, [4, 8]), {},
        "permuted_tokens is",
    ),
    (
        "npu_moe_token_unpermute_with_routing_map", (ROWS[0], S, [4, 8]), {},
        "permuted_tokens has 2",
    ),
    ("npu_moe_token_unpermute_with_routing_map", (ROWS, S.long(), [4, 8]), {}, "is int32"),
    ("npu_moe_token_unpermute_with_routing_map", (ROWS, S[None], [4, 8]), {}, "has 1 axis"),
    ("npu_moe_token_unpermute_with_routing_map", (ROWS, S, [4]), {}, "has 2 values"),
    ("npu_moe_token_unpermute_with_routing_map", (ROWS, S, [4, 7]), {}, "keeps the width"),
    (
        "npu_moe_token_unpermute_with_routing_map", (ROWS, S, [4, 8]),
        dict(probs=P.half(), routing_map=MAP), "permuted_tokens' dtype",
    ),
    (
        "npu_moe_token_unpermute_with_routing_map", (ROWS, S, [4, 8]),
        dict(probs=P[0], routing_map=MAP), "probs has 2",
    ),
    (
        "npu_moe_token_unpermute_with_routing_map", (ROWS, S, [4, 8]), dict(probs=P),
        "needs routing_map",
    ),
    (
        "npu_moe_token_unpermute_with_routing_map", (ROWS, S, [4, 8]),
        dict(routing_map=MAP.int()), "int8 or bool",
    ),
    (
        "npu_moe_token_unpermute_with_routing_map", (ROWS, S, [4, 8]),
        dict(routing_map=MAP[0]), "routing_map has 2",
    ),
    (
        "npu_moe_token_unpermute_with_routing_map", (ROWS, S, [4, 8]),
        dict(routing_map=MAP[:3]), "row for each token",
    ),
    (
        "npu_moe_token_unpermute_with_routing_map",
        (ROWS, S[:1].expand(513), [1, 8]), {}, "at most 512",
    ),
    ("npu_moe_gating_top_k_softmax", (X.double(),), {}, "x is float16"),
    ("npu_moe_gating_top_k_softmax", (X[0],), {}, "2 or 3"),
    ("npu_moe_gating_top_k_softmax", (X, I[:, 0]), {}, "finished is bool"),
    ("npu_moe_gating_top_k_softmax", (X, MAP), {}, "value for each row"),
    ("npu_moe_gating_top_k_softmax", (X, None, 0), {}, "more than 0"),
    ("npu_moe_gating_top_k_softmax", (X, None, 9), {}, "number of experts"),
    ("npu_moe_gating_top_k_softmax", (torch.ones(1, 1100), None, 1025), {}, "1024"),
    ("npu_moe_gating_top_k_softmax_v2", (X.double(),), {}, "x is float16"),
    ("npu_moe_gating_top_k_softmax_v2", (X[0],), {}, "2 or 3"),
    ("npu_moe_gating_top_k_softmax_v2", (X,), dict(finished=I[:, 0]), "finished is bool"),
    ("npu_moe_gating_top_k_softmax_v2", (X,), dict(finished=MAP), "value for each row"),
    ("npu_moe_gating_top_k_softmax_v2", (X,), dict(k=0), "more than 0"),
    ("npu_moe_gating_top_k_softmax_v2", (X,), dict(k=9), "number of experts"),
    ("npu_moe_gating_top_k_softmax_v2", (torch.ones(1, 1100),), dict(k=1025), "1024"),
    ("npu_moe_gating_top_k_softmax_v2", (X,), dict(renorm=2), "renorm is 0 or 1"),
    ("npu_moe_gating_top_k", (G.double(), 1), {}, "x is float16"),
    ("npu_moe_gating_top_k", (G[0], 1), {}, "x has 2"),
    ("npu_moe_gating_top_k", (torch.ones(1, 2049), 1), {}, "at most 2048 experts"),
    ("npu_moe_gating_top_k", (G, 1), dict(bias=G[0].half()), "bias has x's dtype"),
    ("npu_moe_gating_top_k", (G, 1), dict(bias=G), "bias has 1"),
    ("npu_moe_gating_top_k", (G, 1), dict(bias=G[0, :8]), "value for each expert"),
    ("npu_moe_gating_top_k", (G, 1), dict(tid2eid=I), "given together"),
    ("npu_moe_gating_top_k", (G, 2), dict(input_ids=I[:, 0].short(), tid2eid=I), "ids is int32"),
    ("npu_moe_gating_top_k", (G, 2), dict(input_ids=I, tid2eid=I), "input_ids has 1 axis"),
    ("npu_moe_gating_top_k", (G, 2), dict(input_ids=I[0], tid2eid=I), "value for each token"),
    ("npu_moe_gating_top_k", (G, 2), dict(input_ids=I[:, 0], tid2eid=I.short()), "eid is int32"),
    ("npu_moe_gating_top_k", (G, 2), dict(input_ids=I[:, 0], tid2eid=I[0]), "tid2eid has 2"),
    ("npu_moe_gating_top_k", (G, 1), dict(input_ids=I[:, 0], tid2eid=I), "k columns"),
    ("npu_moe_gating_top_k", (G, 0), {}, "k is at least 1"),
    ("npu_moe_gating_top_k", (G, 1), dict(k_group=0), "k_group is at least 1"),
    ("npu_moe_gating_top_k", (G, 1), dict(k_group=2), "at most group_count"),
    ("npu_moe_gating_top_k", (G, 1), dict(group_count=5), "divides"),
    ("npu_moe_gating_top_k", (G, 1), dict(group_count=6), "more than 2 experts"),
    ("npu_moe_gating_top_k", (G, 5), dict(group_count=3), "in the chosen groups"),
    ("npu_moe_gating_top_k", (torch.ones(1, 300), 1), dict(group_count=100), "rounded up"),
    ("npu_moe_gating_top_k", (G, 1), dict(group_select_mode=2), "group_select_mode"),
    ("npu_moe_gating_top_k", (G, 1), dict(renorm=1), "renorm is 0"),
    ("npu_moe_gating_top_k", (G, 1), dict(norm_type=2), "norm_type"),
]
E32 = torch.zeros(4, 2, dtype=torch.int32)
N = "npu_moe_init_routing"
BROKEN += [
    (N, (X.double(), E32, E32, 4), {}, "x is float16"),
    (N, (X[0], E32, E32, 4), {}, "x has 2"),
    (N, (X[:1, :1].expand(16777216, 1), E32, E32, 4), {}, "2\\*\\*24"),
    (N, (X, I, E32, 4), {}, "row_idx is int32"),
    (N, (X, E32, I, 4), {}, "expert_idx is int32"),
    (N, (X, E32[0], E32[0], 4), {}, "expert_idx has 2"),
    (N, (X, E32[:3], E32, 4), {}, "expert_idx's shape"),
    (N, (X, E32[:3], E32[:3], 4), {}, "a row for each token"),
]
N = "npu_moe_init_routing_v2"
BROKEN += [
    (N, (X.double(), E32), {}, "x is float16"),
    (N, (X[0], E32), {}, "x has 2"),
    (N, (X, I), {}, "expert_idx is int32"),
    (N, (X, E32[0]), {}, "expert_idx has 2"),
    (N, (X, E32[:3]), {}, "a row for each token"),
    (N, (X, E32), dict(active_num=-2), "at least -1"),
    (N, (X, E32), dict(expert_num=10241), "at most 10240"),
    (N, (X, E32), dict(expert_num=5121, expert_tokens_num_type=2), "at most 5120"),
    (N, (X, E32), dict(drop_pad_mode=2), "drop_pad_mode is 0 or 1"),
    (N, (X, E32), dict(drop_pad_mode=1), "needs expert_capacity"),
    (N, (X, E32), dict(drop_pad_mode=1, expert_capacity=5), "number of tokens"),
    (N, (X, E32), dict(expert_tokens_num_type=3), "0, 1 or 2"),
    (N, (X, E32), dict(quant_mode=2), "quant_mode is -1, 0 or 1"),
    (N, (X, E32), dict(row_idx_type=2), "row_idx_type is"),
    (N, (X, E32), dict(scale=X), "scale has 1 axis"),
    (N, (X, E32), dict(scale=X[0]), "a value for each token"),
    (N, (X, E32), dict(scale=X[0], quant_mode=1), "scale has 2 axes"),
    (N, (X, E32), dict(quant_mode=0), "quant_mode 0 needs scale"),
]
N = "npu_moe_finalize_routing"
BAD = ROWS.half()


def final(rows=ROWS, skip1=None, skip2=None, bias=None, scales=None, index=S, experts=None):
    return rows, skip1, skip2, bias, scales, index, experts


BROKEN += [
    (N, final(), dict(drop_pad_mode=4), "0 to 3"),
    (N, final(ROWS.double()), {}, "permuted_rows is float16"),
    (N, final(ROWS[None]), {}, "rows has 2 axes"),
    (N, final(), dict(drop_pad_mode=1), "rows has 3 axes"),
    (N, final(skip2=ROWS), {}, "skip2 needs skip1"),
    (N, final(skip1=BAD), {}, "skip1 has the rows'"),
    (N, final(skip1=ROWS[0]), {}, "skip1 has 2"),
    (N, final(skip1=ROWS, skip2=BAD), {}, "skip2 has the rows'"),
    (N, final(skip1=ROWS, skip2=ROWS[0]), {}, "skip2 has 2"),
    (N, final(bias=BAD, experts=E32), {}, "bias has the rows'"),
    (N, final(bias=ROWS[0], experts=E32), {}, "bias has 2"),
    (N, final(bias=ROWS), {}, "needs export_for_source_row"),
    (N, final(scales=P.half()), {}, "scales has the rows'"),
    (N, final(scales=P[0]), {}, "scales has 2"),
    (N, final(index=S.long()), {}, "dst_row is int32"),
    (N, final(index=S[None]), {}, "dst_row has 1"),
    (N, final(experts=I), {}, "source_row is int32"),
    (N, final(experts=E32[0]), {}, "source_row has 2"),
]
N = "npu_moe_compute_expert_tokens"
BROKEN += [
    (N, (S.long(), 4), {}, "row is int32"),
    (N, (S[None], 4), {}, "row has 1 axis"),
    (N, (S[:1].expand(16777216), 4), {}, "2\\*\\*24"),
    (N, (S, 0), {}, "more than 0"),
    (N, (S, 2049), {}, "at most 2048"),
]
N = "npu_moe_re_routing"
BROKEN += [
    (N, (X, I), {}, "tokens is float16"),
    (N, (X[0].half(), I), {}, "tokens has 2"),
    (N, (X[:, :1].expand(4, 16384).half(), I), {}, "shorter than 16384"),
    (N, (X.half(), P), {}, "rank is int32"),
    (N, (X.half(), I[0]), {}, "rank has 2"),
    (N, (X.half(), I), dict(per_token_scales=X[:, 0].half()), "scales is float32"),
    (N, (X.half(), I), dict(per_token_scales=X), "scales has 1"),
    (N, (X.half(), I), dict(per_token_scales=X[0]), "value for each token"),
    (N, (X.half(), I), dict(expert_token_num_type=0), "token_num_type is 1"),
    (N, (X.half(), I), dict(idx_type=1), "idx_type is 0"),
]


@pytest.mark.parametrize("name, args, given, message", BROKEN)
def test_limits(name, args, given, message):
    with pytest.raises(RuntimeError, match="not held.*" + message):
        getattr(npu, name)(*args, **given)


@pytest.mark.parametrize("name", sorted({case[0] for case in BROKEN}))
def test_every_limit_is_met(name):
    assert opslimits.never_met(name, [(a, g) for n, a, g, _ in BROKEN if n == name]) == []
