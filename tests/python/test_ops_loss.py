"""The losses of ops/: values, gradients, dtypes, shapes, limits.

What is expected comes from torch.nn.functional in float64; never from the code
under test.
"""
import pytest
import torch
import torch.nn.functional as F

from opslimits import never_met, refused
from opsvalues import FLOATS, close, compare, npu, pairs

REDUCTIONS = ("mean", "sum", "none")


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_cross_entropy_loss(reduction, dtype):
    ours, wide = pairs(torch.randn(6, 9).to(dtype) * 2)
    target = torch.randint(0, 9, (6,))
    loss, log_prob, zloss, lse = npu.npu_cross_entropy_loss(
        ours[0], target, reduction=reduction
    )
    assert {t.dtype for t in (loss, log_prob, zloss, lse)} == {dtype}
    assert zloss.numel() == lse.numel() == 0 and not log_prob.requires_grad
    close(log_prob, F.log_softmax(wide[0], 1))
    expected = F.cross_entropy(wide[0], target, reduction=reduction)
    assert loss.shape == ((6,) if reduction == "none" else (1,))
    compare(loss, expected.reshape(loss.shape), ours, wide)


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("smoothing", (0.0, 0.3))
@pytest.mark.parametrize("ignore", (-100, 4))
@pytest.mark.parametrize("weighted", (False, True))
def test_cross_entropy_loss_without_gradients(weighted, ignore, smoothing, reduction):
    x, target = torch.randn(8, 6), torch.tensor([4, 0, 1, 4, 5, 2, 3, 4])
    weight = torch.rand(6) if weighted else None
    loss = npu.npu_cross_entropy_loss(x, target, weight, reduction, ignore, smoothing)[0]
    expected = F.cross_entropy(
        x.double(), target, weight.double() if weighted else None, ignore_index=ignore,
        reduction=reduction, label_smoothing=smoothing,
    )
    close(loss, expected.reshape(loss.shape))


def test_cross_entropy_loss_does_not_ignore_a_hundred_below_zero():
    """F.cross_entropy leaves such rows out; the operator has no such target."""
    x, target = torch.randn(2, 4), torch.tensor([1, -100])
    assert F.cross_entropy(x, target).isfinite()
    with pytest.raises(RuntimeError):
        npu.npu_cross_entropy_loss(x, target)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_softmax_cross_entropy_with_logits(dtype):
    ours, wide = pairs(torch.randn(5, 7).to(dtype))
    labels = torch.rand(5, 7).softmax(1).to(dtype)
    y = npu.npu_softmax_cross_entropy_with_logits(ours[0], labels)
    assert y.dtype == dtype
    expected = F.cross_entropy(wide[0], labels.double(), reduction="none")
    compare(y, expected, ours, wide)


def test_softmax_cross_entropy_with_logits_as_documented():
    row = torch.tensor([[1.0, 2.0, 3.0, 4.0]])
    y = npu.npu_softmax_cross_entropy_with_logits(row, row)
    close(y, torch.tensor([14.4019]))


@pytest.mark.parametrize("dtype", FLOATS[:2], ids=str)
def test_dropout_with_add_softmax(dtype):
    ours, wide = pairs(torch.randn(8, 4, 128, 128).to(dtype))
    x1 = torch.randn(8, 4, 128, 128).to(dtype)
    mask, softmax, y = npu.npu_dropout_with_add_softmax(ours[0], x1, 0.125, 0.0, -1)
    assert mask.dtype == torch.uint8 and mask.shape == (x1.numel(),) and mask.all()
    assert softmax.dtype == y.dtype == dtype and torch.equal(softmax, y)
    assert not softmax.requires_grad
    compare(y, F.softmax(x1.double() + 0.125 * wide[0], -1), ours, wide)


def test_dropout_itself_is_not_emulated():
    x = torch.zeros(1, 32, 128, 128)
    with pytest.raises(AssertionError, match="not emulated"):
        npu.npu_dropout_with_add_softmax(x, x, 1.0, 0.1, -1)


X, T, W = torch.randn(4, 6), torch.tensor([0, 1, 2, 3]), torch.ones(6)
LEAF = X.clone().requires_grad_()
TALL = torch.empty(1, 1).expand(200001, 1)
IMAGE = torch.empty(1, 1, 1, 1).expand(1, 32, 128, 128)
BROKEN = [
    ("npu_cross_entropy_loss", (X.double(), T), {}, "float16, bfloat16"),
    ("npu_cross_entropy_loss", (X[None], T), {}, "input has 2 dim"),
    ("npu_cross_entropy_loss", (X[:, :0], T), {}, "one class"),
    ("npu_cross_entropy_loss", (X[:0], T), {}, "one row"),
    ("npu_cross_entropy_loss", (TALL, T), {}, "at most 200000"),
    ("npu_cross_entropy_loss", (X, T.int()), {}, "target is int64"),
    ("npu_cross_entropy_loss", (X, T[None]), {}, "target has 1 dim"),
    ("npu_cross_entropy_loss", (X, T[:3]), {}, "one class a row"),
    ("npu_cross_entropy_loss", (X, T, W.half()), {}, "weight is float32"),
    ("npu_cross_entropy_loss", (X, T, W[None]), {}, "weight has 1"),
    ("npu_cross_entropy_loss", (X, T, W[:3]), {}, "one element a class"),
    ("npu_cross_entropy_loss", (LEAF, T, W), {}, "takes no weight"),
    ("npu_cross_entropy_loss", (X, T, None, "max"), {}, "mean, sum or none"),
    ("npu_cross_entropy_loss", (X, T), {"ignore_index": 6}, "below the classes"),
    ("npu_cross_entropy_loss", (X, T), {"label_smoothing": -0.1}, "at least 0"),
    ("npu_cross_entropy_loss", (X, T), {"label_smoothing": 1.0}, "below 1"),
    ("npu_cross_entropy_loss", (LEAF, T), {"label_smoothing": 0.1}, "no label_smooth"),
    ("npu_cross_entropy_loss", (LEAF, T), {"ignore_index": 1}, "ignores no index"),
    (
        "npu_cross_entropy_loss", (X, T), {"lse_square_scale_for_zloss": 0.1},
        "lse_square_scale_for_zloss is 0",
    ),
    ("npu_cross_entropy_loss", (X, T), {"return_zloss": True}, "return_zloss is"),
    ("npu_softmax_cross_entropy_with_logits", (X.double(), X), {}, "float16, bf"),
    ("npu_softmax_cross_entropy_with_logits", (X[0], X[0]), {}, "2 dimensions"),
    ("npu_softmax_cross_entropy_with_logits", (X, X.half()), {}, "input's dtype"),
    ("npu_softmax_cross_entropy_with_logits", (X, X[:1]), {}, "input's shape"),
    ("npu_dropout_with_add_softmax", (X.bfloat16(), X, 1, 0.0, -1), {}, "float16 or"),
    ("npu_dropout_with_add_softmax", (X, X.half(), 1, 0.0, -1), {}, "input's dtype"),
    ("npu_dropout_with_add_softmax", (X, X, 1, 0.0, -1), {}, "4 dimensions"),
    ("npu_dropout_with_add_softmax", (IMAGE, IMAGE[0], 1, 0.0, -1), {}, "shape"),
    (
        "npu_dropout_with_add_softmax",
        (IMAGE[:, :31], IMAGE[:, :31], 1, 0.0, -1), {}, "multiple of 32",
    ),
    (
        "npu_dropout_with_add_softmax",
        (IMAGE[:, :, :64], IMAGE[:, :, :64], 1, 0.0, -1), {}, "128, 256",
    ),
    (
        "npu_dropout_with_add_softmax",
        (IMAGE[..., :64], IMAGE[..., :64], 1, 0.0, -1), {}, "128, 256",
    ),
    ("npu_dropout_with_add_softmax", (IMAGE, IMAGE, 1, -0.1, -1), {}, "at least 0"),
    ("npu_dropout_with_add_softmax", (IMAGE, IMAGE, 1, 1.0, -1), {}, "below 1"),
    ("npu_dropout_with_add_softmax", (IMAGE, IMAGE, 1, 0.0, 3), {}, "dim is -1"),
    (
        "npu_dropout_with_add_softmax",
        (IMAGE, IMAGE.detach().clone().requires_grad_(), 1, 0.0, -1), {}, "wrong one",
    ),
]


@pytest.mark.parametrize("name, arguments, keywords, text", BROKEN)
def test_limit(name, arguments, keywords, text):
    assert text in refused(name, arguments, keywords)[1]


@pytest.mark.parametrize("name", sorted({row[0] for row in BROKEN}))
def test_every_limit_is_met(name):
    assert never_met(name, [row[1:3] for row in BROKEN if row[0] == name]) == []


@pytest.mark.parametrize("reduction", ("sum", "none"))
def test_a_sum_that_needs_a_gradient_may_weigh_and_ignore(reduction):
    loss = npu.npu_cross_entropy_loss(LEAF, T, W, reduction, ignore_index=1)[0]
    loss.sum().backward()
    assert (LEAF.grad[1] == 0).all() and LEAF.grad[0].abs().sum() > 0
