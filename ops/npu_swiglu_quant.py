"""npu_swiglu_quant: SwiGLU, multiplied by scales of groups and rounded to int8.

Sources, named in the comments below:
  page         op-plugin, docs/zh/custom_APIs/torch_npu, the page
               "torch_npu-npu_swiglu_quant.md"
  C++          op-plugin, op_plugin/ops/opapi/SwigluquantKernelNpuOpApi.cpp
  meta         torch_npu 2.13.0, op_plugin/meta/_meta_registrations.py
  derivatives  op-plugin, op_plugin/config/derivatives.yaml
  test         op-plugin, test/test_custom_ops/test_npu_swiglu_quant.py
  aclnn        CANN ops-nn, the page of aclnnSwiGluQuantV2
"""
import torch

operator = "npu_swiglu_quant"
schema = (
    "npu_swiglu_quant(Tensor x, *, Tensor? smooth_scales=None, "
    "Tensor? offsets=None, Tensor? group_index=None, bool activate_left=False, "
    "int quant_mode=0, int group_list_type=0, ScalarType? dst_type=None) "
    "-> (Tensor, Tensor)"
)
summary = "SwiGLU to int8; the right half is activated by default"
source = "op-plugin docs: torch_npu-npu_swiglu_quant.md"

# derivatives: no entry, and no fallback: gradients are lost with a warning.
autograd = "silent"
output_differentiability = (False, True)

products = ("Ascend 950DT", "Atlas A3", "Atlas A2")  # page, table of products
versions = "2.7.1, 2.13.0, 2.14.0"


def limits(x, smooth_scales, offsets, group_index, activate_left, quant_mode,
           group_list_type, dst_type):
    # page, parameter x: the three floating types, more than 1 dimension, an
    # even last axis of at most 8192.
    assert x.dtype in (torch.float16, torch.bfloat16, torch.float32), (
        "x is float16, bfloat16 or float32"
    )
    assert x.dim() >= 2, "x has at least 2 dimensions"
    assert x.shape[-1] % 2 == 0, "the last axis has an even size"
    assert x.shape[-1] <= 8192, "the last axis is at most 8192"
    # C++: 0 is static, 1 is dynamic.
    assert quant_mode in (0, 1), "quant_mode is 0 (static) or 1 (dynamic)"
    # page, parameter group_index; C++ checks its type.
    assert group_list_type in (0, 1), "group_list_type is 0 (sums) or 1 (counts)"
    if group_index is not None:
        assert group_index.dtype == torch.int32, "group_index is int32"
        assert group_index.dim() == 1, "group_index has 1 dimension"
    # page, parameter smooth_scales: [G, N] or [G]; aclnn: G is 1 without groups.
    if smooth_scales is not None:
        assert smooth_scales.dtype == torch.float32, "smooth_scales is float32"
        assert smooth_scales.dim() in (1, 2), "smooth_scales has 1 or 2 dimensions"
        assert smooth_scales.dim() == 1 or smooth_scales.shape[1] * 2 == x.shape[-1], (
            "smooth_scales is half as wide as x"
        )
        if group_index is None:
            assert smooth_scales.shape[0] == 1, "smooth_scales has one row"
        if group_index is not None:
            assert smooth_scales.shape[0] == group_index.shape[0], (
                "smooth_scales has a row a group"
            )
        assert quant_mode == 1 or offsets is not None, (
            "static scales have offsets"  # C++ compares the shapes
        )
    # page, parameter offsets: static only, as smooth_scales; C++ checks it.
    if offsets is not None:
        assert offsets.dtype == torch.float32, "offsets are float32"
        if smooth_scales is None:
            assert quant_mode == 1, "static offsets have scales"
        if smooth_scales is not None:
            assert quant_mode == 1 or offsets.shape == smooth_scales.shape, (
                "offsets have smooth_scales' shape"
            )
    # page, parameter dst_type, and x: int4 two to a byte.
    assert dst_type in (None, torch.int8, torch.quint4x2), (
        "dst_type is int8 or quint4x2"
    )
    assert dst_type != torch.quint4x2 or x.shape[-1] % 4 == 0, (
        "for quint4x2 the last axis is a multiple of 4"
    )


def _groups(group_index, group_list_type, rows):
    """(first, end) of each group's rows."""
    if group_index is None:
        return [(0, rows)]
    ends = group_index if group_list_type == 0 else group_index.cumsum(0)
    ends = [min(int(end), rows) for end in ends]
    return list(zip([0] + ends[:-1], ends))


def golden(x, smooth_scales=None, offsets=None, group_index=None,
           activate_left=False, quant_mode=0, group_list_type=0, dst_type=None):
    """Returns y (int8, the last axis halved) and scale (float32, one a row).

    scale is 127 / max|y| of a row (test, aclnn): y / scale is SwiGLU again. It
    is not written if static; here it is nan then. Rows of no group are 0 and
    nan. Everything in float32 (test). int4 is not emulated.
    """
    assert dst_type != torch.quint4x2, "npu_swiglu_quant: int4 is not emulated"
    left, right = x.float().reshape(-1, x.shape[-1]).chunk(2, -1)
    gate, up = (left, right) if activate_left else (right, left)
    y = gate * torch.sigmoid(gate) * up
    out = torch.zeros_like(y)
    scale = torch.full_like(y[:, 0], float("nan"))
    for i, (first, end) in enumerate(_groups(group_index, group_list_type, len(y))):
        part = y[first:end]
        if smooth_scales is not None:
            part = part * smooth_scales[i]
        if offsets is not None and quant_mode == 0:
            part = part + offsets[i]
        if quant_mode == 1:
            scale[first:end] = 127.0 / part.abs().amax(-1)
            part = part * scale[first:end].unsqueeze(-1)
        out[first:end] = part
    out = torch.nan_to_num(torch.round(out).clamp(-128, 127), nan=0.0).to(torch.int8)
    return out.reshape(x.shape[:-1] + (-1,)), scale.reshape(x.shape[:-1])
