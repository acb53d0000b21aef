"""npu_apply_adam_w: one step of AdamW, in place.

Sources, named in the comments below:
  docstring  torch_npu 2.13.0, _op_plugin_docs.py, entry npu_apply_adam_w
  test       op-plugin, test/test_base_ops/test_apply_adam_w.py
"""
import torch

operator = "npu_apply_adam_w"
schema = (
    "npu_apply_adam_w.out(Scalar beta1_power, Scalar beta2_power, "
    "Scalar lr, Scalar weight_decay, Scalar beta1, Scalar beta2, "
    "Scalar epsilon, Tensor grad, Tensor? max_grad_norm, bool? amsgrad, "
    "bool? maximize, *, Tensor[] out) -> (Tensor, Tensor, Tensor)"
)
summary = "one step of AdamW on a parameter and its moments, in place"
source = "torch_npu docstring: npu_apply_adam_w"

# No derivative and no fallback is registered: gradients are dropped.
autograd = "silent"
output_differentiability = (False, False, False)

products = ("Atlas A2",)  # docstring
versions = "2.1.0, 2.5.1, 2.7.1, 2.13.0, 2.14.0"


def limits(beta1_power, beta2_power, lr, weight_decay, beta1, beta2, epsilon, grad,
           max_grad_norm, amsgrad, maximize, out):
    # docstring, parameter out: the parameter and its two moments.
    assert len(out) == 3, "out is (var, m, v)"
    assert out[0].dtype in (torch.float16, torch.bfloat16, torch.float32), (
        "var is float16, bfloat16 or float32"
    )
    assert out[0].dim() >= 1, "var has at least 1 axis"
    assert out[0].dim() <= 8, "var has at most 8 axes"
    assert out[1].dtype == out[0].dtype, "m has var's dtype"
    assert out[1].shape == out[0].shape, "m has var's shape"
    assert out[2].dtype == out[0].dtype, "v has var's dtype"
    assert out[2].shape == out[0].shape, "v has var's shape"
    # docstring, parameter grad.
    assert grad.dtype == out[0].dtype, "grad has var's dtype"
    assert grad.shape == out[0].shape, "grad has var's shape"
    # docstring, parameter max_grad_norm.
    assert not amsgrad or max_grad_norm is not None, "amsgrad needs max_grad_norm"
    if max_grad_norm is not None:
        assert max_grad_norm.dtype == out[0].dtype, "max_grad_norm has var's dtype"
        assert max_grad_norm.shape == out[0].shape, "max_grad_norm has var's shape"


def golden(beta1_power, beta2_power, lr, weight_decay, beta1, beta2, epsilon, grad,
           max_grad_norm, amsgrad, maximize, out):
    """Writes var, m and v in place and returns them.

    beta1_power, beta2_power are the powers of the step before. amsgrad is not
    emulated: docstring and test disagree about what v then holds.
    """
    assert not amsgrad, "npu_apply_adam_w: amsgrad is not emulated"
    var, m, v = out
    g = -grad.float() if maximize else grad.float()
    first = m.float() * beta1 + (1 - beta1) * g
    second = v.float() * beta2 + (1 - beta2) * g * g
    step = first / (1 - beta1_power * beta1)
    step = step / (torch.sqrt(second / (1 - beta2_power * beta2)) + epsilon)
    fresh = var.float() * (1 - lr * weight_decay) - lr * step
    for target, value in ((var, fresh), (m, first), (v, second)):
        target.copy_(value)
    return var, m, v
