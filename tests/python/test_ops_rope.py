"""The rotary operators of ops/: values, gradients, dtypes, limits.

What is expected comes from complex numbers or from loops written here in
float64; never from the code under test.
"""
import pytest
import torch

from opslimits import never_met, refused
from opsvalues import FLOATS, close, npu


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


X, R = torch.randn(2, 3, 5, 8), torch.randn(1, 1, 5, 8)
LONG = torch.ones(1, 1001, 1, 2)
BROKEN = [
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


@pytest.mark.parametrize("arguments, text", BROKEN)
def test_limit_of_rotary_mul(arguments, text):
    assert text in refused("npu_rotary_mul", arguments)[1]


def test_every_limit_of_rotary_mul_is_met():
    assert never_met("npu_rotary_mul", [(arguments,) for arguments, _ in BROKEN]) == []
