"""npu_add_rms_norm_v2: npu_add_rms_norm in place: x1 becomes y, x2 the sum.

Sources, named in the comments below:
  C++          op-plugin, op_plugin/ops/opapi/AddRmsNormV2KernelNpuOpApi.cpp
  meta         torch_npu 2.13.0, op_plugin/meta/_meta_registrations.py
  derivatives  op-plugin, op_plugin/config/derivatives.yaml
  test         op-plugin, test/test_custom_ops/test_npu_add_rms_norm_v2.py
  aclnn        CANN ops-nn, the page of aclnnInplaceAddRmsNorm
There is no page in op-plugin's docs and no docstring.
"""
import torch

operator = "npu_add_rms_norm_v2"
schema = (
    "npu_add_rms_norm_v2(Tensor(a!) x1, Tensor(b!) x2, Tensor gamma, "
    "float epsilon=1e-06) -> Tensor"
)
summary = "residual sum and root mean square normalisation, written over the inputs"
source = "CANN docs: aclnnInplaceAddRmsNorm"

# derivatives: no entry, and no fallback: gradients are lost with a warning.
autograd = "silent"
output_differentiability = (True,)

products = ()  # no document of the operator names any
versions = "2.13.0, 2.14.0"


def limits(x1, x2, gamma, epsilon):
    # aclnn, parameter x1: the three floating types, 1 to 8 dimensions, neither
    # empty nor strided.
    assert x1.dtype in (torch.float16, torch.bfloat16, torch.float32), (
        "x1 is float16, bfloat16 or float32"
    )
    assert x1.dim() >= 1, "x1 has at least 1 dimension"
    assert x1.dim() <= 8, "x1 has at most 8 dimensions"
    assert x1.numel() > 0, "x1 is not empty"
    assert x1.is_contiguous(), "x1 is contiguous"
    # aclnn, parameter x2: the same shape; test: the same dtype.
    assert x2.dtype == x1.dtype, "x2 has x1's dtype"
    assert x2.shape == x1.shape, "x2 has x1's shape"
    assert x2.is_contiguous(), "x2 is contiguous"
    # aclnn, parameter gamma: the shape of x1's last axes; test: the same dtype.
    assert gamma.dtype == x1.dtype, "gamma has x1's dtype"
    assert gamma.dim() >= 1, "gamma has at least 1 dimension"
    assert gamma.dim() <= x1.dim(), "gamma has no more axes than x1"
    assert gamma.shape == x1.shape[-gamma.dim():], (
        "gamma has the shape of x1's last axes"
    )
    assert gamma.is_contiguous(), "gamma is contiguous"


def golden(x1, x2, gamma, epsilon=1e-6):
    """Returns rstd (float32); writes y into x1 and the sum into x2.

    The sum is rounded to the dtype, and then normalised in float32 with one
    cast at the end (test). rstd keeps the normalised axes with size 1 (meta).
    """
    axes = tuple(range(-gamma.dim(), 0))
    total = x1 + x2
    x = total.float()
    rstd = 1.0 / torch.sqrt((x * x).mean(axes, keepdim=True) + epsilon)
    x1.copy_((x * rstd * gamma.float()).to(x1.dtype))
    x2.copy_(total)
    return rstd
