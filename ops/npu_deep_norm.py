"""npu_deep_norm: layer normalisation of alpha * x + gx.

Sources, named in the comments below:
  C++          op-plugin, op_plugin/ops/opapi/DeepNormKernelOpApi.cpp
  meta         torch_npu 2.13.0, op_plugin/meta/_meta_registrations.py
  derivatives  op-plugin, op_plugin/config/derivatives.yaml
  test         op-plugin, test/test_custom_ops/test_npu_deep_norm.py
  aclnn        CANN ops-nn, the page of aclnnDeepNorm
There is no page in op-plugin's docs and no docstring.
"""
import torch

operator = "npu_deep_norm"
schema = (
    "npu_deep_norm(Tensor x, Tensor gx, Tensor beta, Tensor gamma, "
    "float alpha=0.3, float epsilon=1e-06) -> (Tensor, Tensor, Tensor)"
)
summary = "layer normalisation of alpha * x + gx; beta before gamma, result last"
source = "CANN docs: aclnnDeepNorm"

# derivatives: a formula for x, gx, beta and gamma, by the last output.
autograd = "differentiable"
output_differentiability = (False, False, True)

# aclnn, constraints.
products = (
    "Ascend 950PR/950DT",
    "Atlas A3",
    "Atlas A2",
    "Atlas inference series (no bfloat16)",
)
versions = "2.5.1, 2.7.1, 2.13.0, 2.14.0"


def limits(x, gx, beta, gamma, alpha, epsilon):
    # aclnn, parameter x: the three floating types, 2 to 8 dimensions.
    assert x.dtype in (torch.float16, torch.bfloat16, torch.float32), (
        "x is float16, bfloat16 or float32"
    )
    assert x.dim() >= 2, "x has at least 2 dimensions"
    assert x.dim() <= 8, "x has at most 8 dimensions"
    # aclnn, parameter gx: the same shape and dtype.
    assert gx.dtype == x.dtype, "gx has x's dtype"
    assert gx.shape == x.shape, "gx has x's shape"
    # aclnn, parameters beta and gamma: 1 to 7 dimensions, x's last axes.
    assert gamma.dtype == x.dtype, "gamma has x's dtype"
    assert gamma.dim() >= 1, "gamma has at least 1 dimension"
    assert gamma.dim() < x.dim(), "gamma has fewer axes than x"
    assert gamma.shape == x.shape[-gamma.dim():], "gamma has the shape of x's last axes"
    assert beta.dtype == x.dtype, "beta has x's dtype"
    assert beta.shape == gamma.shape, "beta has gamma's shape"


def golden(x, gx, beta, gamma, alpha=0.3, epsilon=1e-6):
    """Returns mean, rstd (float32, normalised axes of size 1), and y like x.

    Internal precision is not documented; float32 with one cast is assumed.
    """
    axes = tuple(range(-gamma.dim(), 0))
    total = alpha * x.float() + gx.float()
    mean = total.mean(axes, keepdim=True)
    centred = total - mean
    rstd = 1.0 / torch.sqrt((centred * centred).mean(axes, keepdim=True) + epsilon)
    y = centred * rstd * gamma.float() + beta.float()
    return mean, rstd, y.to(x.dtype)
