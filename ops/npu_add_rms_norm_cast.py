"""npu_add_rms_norm_cast: npu_add_rms_norm whose y comes in float32 too.

Sources, named in the comments below:
  docstring    torch_npu 2.13.0, _op_plugin_docs.py, entry npu_add_rms_norm_cast
  meta         torch_npu 2.13.0, op_plugin/meta/_meta_registrations.py
  derivatives  op-plugin, op_plugin/config/derivatives.yaml
  test         op-plugin, test/test_custom_ops/test_npu_add_rms_norm_cast.py
There is no page in op-plugin's docs.
"""
import torch

operator = "npu_add_rms_norm_cast"
schema = (
    "npu_add_rms_norm_cast(Tensor x1, Tensor x2, Tensor gamma, "
    "float epsilon=1e-06) -> (Tensor, Tensor, Tensor, Tensor)"
)
summary = "residual sum and root mean square normalisation, in float32 and rounded"
source = "torch_npu docstring: npu_add_rms_norm_cast"

# derivatives: no entry, and no fallback: gradients are lost with a warning.
autograd = "silent"
output_differentiability = (True, True, True, True)

products = ("Atlas A3", "Atlas A2")  # docstring
versions = "2.7.1, 2.13.0, 2.14.0"


def limits(x1, x2, gamma, epsilon):
    # docstring, parameter x1: the half types, 1 to 8 dimensions, not empty.
    assert x1.dtype in (torch.float16, torch.bfloat16), "x1 is float16 or bfloat16"
    assert x1.dim() >= 1, "x1 has at least 1 dimension"
    assert x1.dim() <= 8, "x1 has at most 8 dimensions"
    assert x1.numel() > 0, "x1 is not empty"
    # docstring, parameter x2: the same shape and dtype.
    assert x2.dtype == x1.dtype, "x2 has x1's dtype"
    assert x2.shape == x1.shape, "x2 has x1's shape"
    # docstring, parameter gamma: gamma_shape = x_shape[n:], the same dtype.
    assert gamma.dtype == x1.dtype, "gamma has x1's dtype"
    assert gamma.dim() >= 1, "gamma has at least 1 dimension"
    assert gamma.dim() <= x1.dim(), "gamma has no more axes than x1"
    assert gamma.shape == x1.shape[-gamma.dim():], (
        "gamma has the shape of x1's last axes"
    )


def golden(x1, x2, gamma, epsilon=1e-6):
    """Returns y in float32, y in x1's dtype, rstd (float32) and the sum.

    The sum is rounded to the dtype, and then normalised in float32 (test).
    rstd keeps the normalised axes with size 1 (meta).
    """
    axes = tuple(range(-gamma.dim(), 0))
    total = x1 + x2
    x = total.float()
    rstd = 1.0 / torch.sqrt((x * x).mean(axes, keepdim=True) + epsilon)
    y = x * rstd * gamma.float()
    return y, y.to(x1.dtype), rstd, total
