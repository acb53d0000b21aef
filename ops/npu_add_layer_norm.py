"""npu_add_layer_norm: x = x1 + x2, y = (x - mean) / sqrt(var + epsilon) * gamma + beta.

Sources, named in the comments below:
  C++          op-plugin, op_plugin/ops/opapi/AddLayerNormKernelNpuOpApi.cpp
  meta         torch_npu 2.13.0, op_plugin/meta/_meta_registrations.py
  derivatives  op-plugin, op_plugin/config/derivatives.yaml
  test         op-plugin, test/test_custom_ops/test_npu_add_layer_norm.py
  aclnn        CANN ops-nn, the page of aclnnAddLayerNorm
There is no page in op-plugin's docs and no docstring.
"""
import torch

operator = "npu_add_layer_norm"
schema = (
    "npu_add_layer_norm(Tensor x1, Tensor x2, Tensor gamma, Tensor beta, "
    "float epsilon=1e-05, bool additional_output=False) "
    "-> (Tensor, Tensor, Tensor, Tensor)"
)
summary = "residual sum and layer normalisation; the sum too, where asked for"
source = "CANN docs: aclnnAddLayerNorm"

# derivatives: a formula for x1, x2, gamma and beta, by the gradients of the
# first and the last output.
autograd = "differentiable"
output_differentiability = (True, False, False, True)

# aclnn, list of products.
products = (
    "Ascend 950PR/950DT",
    "Atlas A3",
    "Atlas A2",
    "Atlas inference series (equal dtypes, no bfloat16)",
)
versions = "2.5.1, 2.7.1, 2.13.0, 2.14.0"


def limits(x1, x2, gamma, beta, epsilon, additional_output):
    # aclnn, parameters x1 and x2: 1 to 8 dimensions, one shape, no axis of 0.
    assert x1.dim() >= 1, "x1 has at least 1 dimension"
    assert x1.dim() <= 8, "x1 has at most 8 dimensions"
    assert x1.numel() > 0, "x1 is not empty"
    assert x2.shape == x1.shape, "x2 has x1's shape"
    # aclnn, parameters gamma and beta: the axes that are normalised.
    assert gamma.dim() >= 1, "gamma has at least 1 dimension"
    assert gamma.dim() <= x1.dim(), "gamma has no more axes than x1"
    assert gamma.shape == x1.shape[-gamma.dim():], (
        "gamma has the shape of x1's last axes"
    )
    assert beta.shape == gamma.shape, "beta has gamma's shape"
    # aclnn, table of dtypes for A2 and A3: x1 and x2 are equal, or one of them
    # is float32; gamma is float32, or all four are equal.
    assert x1.dtype in (torch.float16, torch.bfloat16, torch.float32), (
        "x1 is float16, bfloat16 or float32"
    )
    assert x2.dtype in (torch.float16, torch.bfloat16, torch.float32), (
        "x2 is float16, bfloat16 or float32"
    )
    assert x1.dtype == x2.dtype or torch.float32 in (x1.dtype, x2.dtype), (
        "x1 and x2 have one dtype, or one of them is float32"
    )
    assert gamma.dtype == torch.float32 or (
        gamma.dtype == x1.dtype and gamma.dtype == x2.dtype
    ), "gamma is float32, or has the dtype of x1 and x2"
    assert beta.dtype == gamma.dtype, "beta has gamma's dtype"


def golden(x1, x2, gamma, beta, epsilon=1e-5, additional_output=False):
    """Returns y, mean, rstd and x1 + x2.

    y and the sum are float32 where the dtypes of x1 and x2 differ (C++; meta
    says x1's). mean and rstd are float32, with one axis of size 1 for all
    normalised ones (C++; meta keeps each). Without additional_output the sum
    is not written; here it is nan. Internal precision is not documented;
    float32 with one cast is assumed.
    """
    dtype = x1.dtype if x1.dtype == x2.dtype else torch.float32
    axes = tuple(range(-gamma.dim(), 0))
    x = x1.float() + x2.float()
    mean = x.mean(axes, keepdim=True)
    centred = x - mean
    rstd = 1.0 / torch.sqrt((centred * centred).mean(axes, keepdim=True) + epsilon)
    y = (centred * rstd * gamma.float() + beta.float()).to(dtype)
    kept = x1.shape[:-gamma.dim()] + (1,)
    total = x.to(dtype) if additional_output else torch.full_like(y, float("nan"))
    return y, mean.reshape(kept), rstd.reshape(kept), total
