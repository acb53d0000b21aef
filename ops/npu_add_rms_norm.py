"""npu_add_rms_norm: x = x1 + x2, y = x / sqrt(mean(x^2) + epsilon) * gamma.

Sources, named in the comments below:
  page         op-plugin, docs/zh/custom_APIs/torch_npu, the page
               "torch_npu-npu_add_rms_norm.md"
  meta         torch_npu 2.13.0, op_plugin/meta/_meta_registrations.py
  fallback     op-plugin, op_plugin/ops/opapi/AutogradErrorFallback.cpp
  test         op-plugin, test/test_custom_ops/test_npu_add_rms_norm.py
"""
import torch

operator = "npu_add_rms_norm"
schema = (
    "npu_add_rms_norm(Tensor x1, Tensor x2, Tensor gamma, float epsilon=1e-06) "
    "-> (Tensor, Tensor, Tensor)"
)
summary = "residual sum and root mean square normalisation; also returns the sum"
source = "op-plugin docs: torch_npu-npu_add_rms_norm.md"

autograd = "raises"  # fallback
output_differentiability = (True, True, True)

# page, table of products. The last takes no bfloat16 and gives no rstd.
products = (
    "Ascend 950DT",
    "Atlas A3",
    "Atlas A2",
    "Atlas inference series (no bfloat16)",
)
versions = "2.5.1, 2.7.1, 2.13.0, 2.14.0"


def limits(x1, x2, gamma, epsilon):
    # page, parameter x1: the three floating types, 1 to 8 dimensions, not empty.
    assert x1.dtype in (torch.float16, torch.bfloat16, torch.float32), (
        "x1 is float16, bfloat16 or float32"
    )
    assert x1.dim() >= 1, "x1 has at least 1 dimension"
    assert x1.dim() <= 8, "x1 has at most 8 dimensions"
    assert x1.numel() > 0, "x1 is not empty"
    # The page says nothing of shape and dtype together; test: both equal.
    assert x2.dtype == x1.dtype, "x2 has x1's dtype"
    assert x2.shape == x1.shape, "x2 has x1's shape"
    # page, parameter gamma: x1's dtype, the shape of its last axes.
    assert gamma.dtype == x1.dtype, "gamma has x1's dtype"
    assert gamma.dim() >= 1, "gamma has at least 1 dimension"
    assert gamma.dim() <= x1.dim(), "gamma has no more axes than x1"
    assert gamma.shape == x1.shape[-gamma.dim():], (
        "gamma has the shape of x1's last axes"
    )


def golden(x1, x2, gamma, epsilon=1e-6):
    """Returns y (x1's shape and dtype), rstd (float32) and x1 + x2.

    The sum is rounded to the dtype, and then normalised in float32 with one
    cast at the end (test). rstd keeps the normalised axes with size 1 (meta).
    """
    axes = tuple(range(-gamma.dim(), 0))
    total = x1 + x2
    x = total.float()
    rstd = 1.0 / torch.sqrt((x * x).mean(axes, keepdim=True) + epsilon)
    return (x * rstd * gamma.float()).to(x1.dtype), rstd, total
