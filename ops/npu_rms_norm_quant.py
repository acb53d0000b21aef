"""npu_rms_norm_quant: round((x / rms(x) * gamma + beta) / scale + offset), int8.

Sources, named in the comments below:
  page         op-plugin, docs/zh/custom_APIs/torch_npu, the page
               "torch_npu-npu_rms_norm_quant.md"
  C++          op-plugin, op_plugin/ops/opapi/RmsNormQuantKernelOpApi.cpp
  meta         torch_npu 2.13.0, op_plugin/meta/_meta_registrations.py
  derivatives  op-plugin, op_plugin/config/derivatives.yaml
  test         op-plugin, test/test_custom_ops/test_npu_rms_norm_quant.py
  aclnn        CANN ops-nn, the page of aclnnRmsNormQuant and its kernel
"""
import torch

operator = "npu_rms_norm_quant"
# The page's prototype hides that dst_dtype is keyword-only.
schema = (
    "npu_rms_norm_quant(Tensor x, Tensor gamma, Tensor beta, Tensor scale, "
    "Tensor offset, float epsilon=1e-06, *, int? dst_dtype=None) -> Tensor"
)
summary = "root mean square normalisation, divided by scale and rounded to int8"
source = "op-plugin docs: torch_npu-npu_rms_norm_quant.md"

# derivatives: no entry, and no fallback; integers carry no gradient.
autograd = "silent"
output_differentiability = (False,)

# page, table of products. limits() are those of the second and third.
products = (
    "Ascend 950DT (more dtypes)",
    "Atlas A3",
    "Atlas A2",
    "Atlas 200I/500 A2 inference (float16)",
    "Atlas inference series (float16)",
)
# 2.7.1 has no dst_dtype
versions = "2.7.1, 2.13.0, 2.14.0"


def limits(x, gamma, beta, scale, offset, epsilon, dst_dtype):
    # page, parameter x: the half types, 1 to 8 dimensions, not empty.
    assert x.dtype in (torch.float16, torch.bfloat16), "x is float16 or bfloat16"
    assert x.dim() >= 1, "x has at least 1 dimension"
    assert x.dim() <= 8, "x has at most 8 dimensions"
    assert x.numel() > 0, "x is not empty"
    # page, parameters gamma and beta: [D] or [1, D], x's dtype.
    assert gamma.dtype == x.dtype, "gamma has x's dtype"
    assert gamma.dim() in (1, 2), "gamma has 1 or 2 dimensions"
    assert gamma.shape[-1] == x.shape[-1], "gamma is as wide as x"
    assert gamma.numel() == x.shape[-1], "gamma has one row"
    assert beta.dtype == x.dtype, "beta has x's dtype"
    assert beta.dim() in (1, 2), "beta has 1 or 2 dimensions"
    assert beta.shape[-1] == x.shape[-1], "beta is as wide as x"
    assert beta.numel() == x.shape[-1], "beta has one row"
    # page, parameters scale and offset: one element; table of dtypes.
    assert scale.dtype == x.dtype, "scale has x's dtype"
    assert scale.dim() == 1, "scale has 1 dimension"
    assert scale.shape[0] == 1, "scale has one element"
    assert offset.dtype == torch.int8, "offset is int8"
    assert offset.shape == scale.shape, "offset has scale's shape"
    # page, parameter dst_dtype: int8 (1), or int4 (16) eight to an int32.
    assert dst_dtype in (None, 1, 16, torch.int8, torch.quint4x2), (
        "dst_dtype is int8 or quint4x2"
    )
    assert dst_dtype not in (16, torch.quint4x2) or x.shape[-1] % 8 == 0, (
        "for quint4x2 the last axis is a multiple of 8"
    )


def golden(x, gamma, beta, scale, offset, epsilon=1e-6, dst_dtype=None):
    """Returns y: x's shape, int8; nan becomes 0 (aclnn). int4 is not emulated.

    It divides by scale (test, aclnn and its kernel; the page multiplies).
    Everything in float32 (test).
    """
    assert dst_dtype in (None, 1, torch.int8), "npu_rms_norm_quant: int4 is not emulated"
    wide = x.float()
    rms = torch.sqrt((wide * wide).mean(-1, keepdim=True) + epsilon)
    # One row: [1, D] must not add an axis to a vector.
    y = wide / rms * gamma.float().reshape(-1) + beta.float().reshape(-1)
    y = torch.round(y / scale.float() + offset.float())
    return torch.nan_to_num(y.clamp(-128, 127), nan=0.0).to(torch.int8)
