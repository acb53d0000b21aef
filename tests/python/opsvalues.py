"""Comparing an operator of ops/ with a formula in float64."""
import pytest
import torch

from npufuse import emulate

npu = emulate.module()
FLOATS = (torch.float32, torch.float16, torch.bfloat16)
TOLERANCE = {torch.float32: 1e-5, torch.float16: 4e-3, torch.bfloat16: 3e-2}


def close(actual, expected, tolerance=None):
    tolerance = tolerance or TOLERANCE[actual.dtype]
    torch.testing.assert_close(
        actual.double(), expected.double(), rtol=tolerance, atol=tolerance
    )


def pairs(*tensors):
    """Leaves of the tensors' dtypes, and the same values as float64 leaves."""
    ours = [t.clone().requires_grad_() for t in tensors]
    return ours, [t.double().requires_grad_() for t in tensors]


def compare(y, expected, ours, wide):
    """Values, and the gradients of `ours` beside those of `wide`."""
    assert y.shape == expected.shape
    close(y, expected)
    weight = torch.randn(y.shape).to(y.dtype)
    y.backward(weight)
    expected.backward(weight.double())
    for a, b in zip(ours, wide):
        assert a.grad.dtype == a.dtype
        close(a.grad, b.grad, 4 * max(TOLERANCE[a.dtype], TOLERANCE[y.dtype]))


def is_silent(call, tensor):
    """`call` of a tensor that asks for a gradient: a warning, and none."""
    x = tensor.clone().requires_grad_()
    y = call(x)
    y = y[0] if isinstance(y, tuple) else y
    assert y.requires_grad
    with pytest.warns(UserWarning, match="no backward"):
        y.float().sum().backward()
    assert x.grad is None


def raises_backward(call, tensor):
    """`call` of a tensor that asks for a gradient: backward is an error."""
    y = call(tensor.clone().requires_grad_())
    y = y[0] if isinstance(y, tuple) else y
    with pytest.raises(RuntimeError, match="no backward"):
        y.float().sum().backward()
