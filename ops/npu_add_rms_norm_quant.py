"""npu_add_rms_norm_quant: residual sum, root mean square norm, and int8.

Sources, named in the comments below:
  page         op-plugin, docs/zh/custom_APIs/torch_npu, the page
               "torch_npu-npu_add_rms_norm_quant.md"
  C++          op-plugin, op_plugin/ops/opapi/AddRmsNormQuantKernelOpApi.cpp
  meta         torch_npu 2.13.0, op_plugin/meta/_meta_registrations.py
  derivatives  op-plugin, op_plugin/config/derivatives.yaml
  test         op-plugin, test/test_custom_ops/test_npu_add_rms_norm_quant.py
"""
import torch

operator = "npu_add_rms_norm_quant"
schema = (
    "npu_add_rms_norm_quant(Tensor x1, Tensor x2, Tensor gamma, Tensor scales1, "
    "Tensor? zero_points1, Tensor? beta=None, Tensor? scales2=None, "
    "Tensor? zero_points2=None, *, int axis=-1, float epsilon=1e-06, "
    "bool div_mode=True, int? dst_type=None) -> (Tensor, Tensor, Tensor)"
)
summary = "residual sum and root mean square norm, rounded to int8 by given scales"
source = "op-plugin docs: torch_npu-npu_add_rms_norm_quant.md"

# derivatives: no entry, and no fallback: gradients are lost with a warning.
autograd = "silent"
output_differentiability = (False, False, True)

# page, table of products.
products = ("Atlas A3", "Atlas A2", "Atlas inference series (float16)")
# 2.7.1 has no dst_type
versions = "2.7.1, 2.13.0, 2.14.0"


def limits(x1, x2, gamma, scales1, zero_points1, beta, scales2, zero_points2, axis,
           epsilon, div_mode, dst_type):
    # page, parameters x1 and x2: the half types, 1 to 8 dimensions, equal.
    assert x1.dtype in (torch.float16, torch.bfloat16), "x1 is float16 or bfloat16"
    assert x1.dim() >= 1, "x1 has at least 1 dimension"
    assert x1.dim() <= 8, "x1 has at most 8 dimensions"
    assert x2.dtype == x1.dtype, "x2 has x1's dtype"
    assert x2.shape == x1.shape, "x2 has x1's shape"
    # page, parameter gamma: x1's dtype, the axes that are normalised.
    assert gamma.dtype == x1.dtype, "gamma has x1's dtype"
    assert gamma.dim() >= 1, "gamma has at least 1 dimension"
    assert gamma.dim() <= x1.dim(), "gamma has no more axes than x1"
    assert gamma.shape == x1.shape[-gamma.dim():], (
        "gamma has the shape of x1's last axes"
    )
    # page, table of dtypes for A2 and A3: float32 and int32 beside float16,
    # bfloat16 throughout otherwise. All have gamma's shape.
    assert scales1.shape == gamma.shape, "scales1 has gamma's shape"
    assert x1.dtype != torch.float16 or scales1.dtype == torch.float32, (
        "with float16 scales1 is float32"
    )
    assert x1.dtype != torch.bfloat16 or scales1.dtype == torch.bfloat16, (
        "with bfloat16 scales1 is bfloat16"
    )
    if zero_points1 is not None:
        assert zero_points1.shape == gamma.shape, "zero_points1 has gamma's shape"
        assert x1.dtype != torch.float16 or zero_points1.dtype == torch.int32, (
            "with float16 zero_points1 is int32"
        )
        assert x1.dtype != torch.bfloat16 or zero_points1.dtype == torch.bfloat16, (
            "with bfloat16 zero_points1 is bfloat16"
        )
    if beta is not None:
        assert beta.dtype == gamma.dtype, "beta has gamma's dtype"
        assert beta.shape == gamma.shape, "beta has gamma's shape"
    if scales2 is not None:
        assert scales2.dtype == scales1.dtype, "scales2 has scales1's dtype"
        assert scales2.shape == gamma.shape, "scales2 has gamma's shape"
    if zero_points2 is not None:
        assert zero_points2.shape == gamma.shape, "zero_points2 has gamma's shape"
        assert x1.dtype != torch.float16 or zero_points2.dtype == torch.int32, (
            "with float16 zero_points2 is int32"
        )
        assert x1.dtype != torch.bfloat16 or zero_points2.dtype == torch.bfloat16, (
            "with bfloat16 zero_points2 is bfloat16"
        )
    # C++ and meta check axis.
    assert axis == -1, "axis is -1"
    # page, outputs: int8. (dst_type is not on the page; it is for Ascend 950.)
    assert dst_type in (None, 1, torch.int8), "dst_type is int8"


def _rounded(y, scales, zero_points, div_mode):
    scales = scales.float()
    y = y / scales if div_mode else y * scales
    if zero_points is not None:
        y = y + zero_points.float()
    return torch.round(y).clamp(-128, 127).to(torch.int8)


def golden(x1, x2, gamma, scales1, zero_points1, beta=None, scales2=None,
           zero_points2=None, axis=-1, epsilon=1e-6, div_mode=True, dst_type=None):
    """Returns y1 and y2 (int8) and the sum; x1's shape each.

    Without scales2, y2 is not written; here it is 0. Everything in float32 of
    the sum that is not rounded (test), rounded half to even (page).
    """
    axes = tuple(range(-gamma.dim(), 0))
    total = x1.float() + x2.float()
    rms = torch.sqrt((total * total).mean(axes, keepdim=True) + epsilon)
    y = total / rms * gamma.float()
    if beta is not None:
        y = y + beta.float()
    y1 = _rounded(y, scales1, zero_points1, div_mode)
    y2 = torch.zeros_like(y1)
    if scales2 is not None:
        y2 = _rounded(y, scales2, zero_points2, div_mode)
    return y1, y2, total.to(x1.dtype)
