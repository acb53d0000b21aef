"""npu_add_rms_norm_dynamic_quant: residual sum, root mean square norm, int8 by row.

Sources, named in the comments below:
  page         op-plugin, docs/zh/custom_APIs/torch_npu, the page
               "torch_npu-npu_add_rms_norm_dynamic_quant.md"
  C++          op-plugin, op_plugin/ops/opapi/AddRmsNormDynamicQuantKernelNpuOpApi.cpp
  meta         torch_npu 2.13.0, op_plugin/meta/_meta_registrations.py
  derivatives  op-plugin, op_plugin/config/derivatives.yaml
  test         op-plugin, test/test_custom_ops/test_npu_add_rms_norm_dynamic_quant.py
"""
import torch

operator = "npu_add_rms_norm_dynamic_quant"
schema = (
    "npu_add_rms_norm_dynamic_quant(Tensor x1, Tensor x2, Tensor gamma, *, "
    "Tensor? smooth_scale1=None, Tensor? smooth_scale2=None, Tensor? beta=None, "
    "float epsilon=1e-6, bool[2]? output_mask=None, int? y_dtype=None) "
    "-> (Tensor, Tensor, Tensor, Tensor, Tensor)"
)
summary = "residual sum and root mean square norm, rounded to int8 by each row's maximum"
source = "op-plugin docs: torch_npu-npu_add_rms_norm_dynamic_quant.md"

# derivatives: no entry, and no fallback: gradients are lost with a warning.
autograd = "silent"
output_differentiability = (False, False, True, True, True)

products = ("Atlas A3", "Atlas A2")  # page, table of products
# 2.7.1 has no y_dtype
versions = "2.7.1, 2.13.0, 2.14.0"


def limits(x1, x2, gamma, smooth_scale1, smooth_scale2, beta, epsilon, output_mask,
           y_dtype):
    # page, parameters x1 and x2: the half types, 2 to 8 dimensions, not empty.
    assert x1.dtype in (torch.float16, torch.bfloat16), "x1 is float16 or bfloat16"
    assert x1.dim() >= 2, "x1 has at least 2 dimensions"
    assert x1.dim() <= 8, "x1 has at most 8 dimensions"
    assert x1.numel() > 0, "x1 is not empty"
    assert x2.dtype == x1.dtype, "x2 has x1's dtype"  # as every other argument
    assert x2.shape == x1.shape, "x2 has x1's shape"
    # page, parameter gamma: one axis, x1's dtype.
    assert gamma.dtype == x1.dtype, "gamma has x1's dtype"
    assert gamma.dim() == 1, "gamma has 1 dimension"
    assert gamma.shape[0] == x1.shape[-1], "gamma is as wide as x1"
    # page, parameters smooth_scale1, smooth_scale2 and beta: as gamma.
    if smooth_scale1 is not None:
        assert smooth_scale1.dtype == x1.dtype, "smooth_scale1 has x1's dtype"
        assert smooth_scale1.shape == gamma.shape, "smooth_scale1 has gamma's shape"
    if smooth_scale2 is not None:
        assert smooth_scale2.dtype == x1.dtype, "smooth_scale2 has x1's dtype"
        assert smooth_scale2.shape == gamma.shape, "smooth_scale2 has gamma's shape"
    if beta is not None:
        assert beta.dtype == x1.dtype, "beta has x1's dtype"
        assert beta.shape == gamma.shape, "beta has gamma's shape"
    # page, constraints: a scale is of an output that is asked for.
    if output_mask is not None:
        assert output_mask[0] or output_mask[1], "output_mask asks for an output"
        assert smooth_scale1 is None or output_mask[0], (
            "smooth_scale1 is of an output that output_mask asks for"
        )
        assert smooth_scale2 is None or output_mask[1], (
            "smooth_scale2 is of an output that output_mask asks for"
        )
    # page, parameter y_dtype: int8 (1), or int4 (16) eight to an int32.
    assert y_dtype in (None, 1, 16, torch.int8, torch.quint4x2), (
        "y_dtype is int8 or quint4x2"
    )
    assert y_dtype not in (16, torch.quint4x2) or x1.shape[-1] % 8 == 0, (
        "for quint4x2 the last axis is a multiple of 8"
    )


def _rounded(y, smooth, wanted):
    if not wanted:  # one element that nothing is written to (C++)
        return y.new_zeros((), dtype=torch.int8), y.new_zeros(())
    if smooth is not None:
        y = y * smooth.float()
    scale = y.abs().amax(-1, keepdim=True) / 127.0
    scale = torch.where(scale > 0, scale, torch.ones_like(scale))
    return torch.round(y / scale).clamp(-128, 127).to(torch.int8), scale.squeeze(-1)


def golden(x1, x2, gamma, smooth_scale1=None, smooth_scale2=None, beta=None,
           epsilon=1e-6, output_mask=None, y_dtype=None):
    """Returns y1, y2 (int8), the sum, and scale1, scale2 (float32, a row each).

    y1 * scale1 is the norm again. Without output_mask the second pair comes
    where both scales are given. Everything in float32 of the sum that is not
    rounded; a row of zeros has scale 1 (test). int4 is not emulated.
    """
    assert y_dtype in (None, 1, torch.int8), (
        "npu_add_rms_norm_dynamic_quant: int4 is not emulated"
    )
    total = x1.float() + x2.float()
    rms = torch.sqrt((total * total).mean(-1, keepdim=True) + epsilon)
    y = total / rms * gamma.float()
    if beta is not None:
        y = y + beta.float()
    both = smooth_scale1 is not None and smooth_scale2 is not None
    wanted = (True, both) if output_mask is None else output_mask
    y1, scale1 = _rounded(y, smooth_scale1, wanted[0])
    y2, scale2 = _rounded(y, smooth_scale2, wanted[1])
    return y1, y2, total.to(x1.dtype), scale1, scale2
