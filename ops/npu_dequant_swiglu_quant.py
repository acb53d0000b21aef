"""npu_dequant_swiglu_quant: int32 times scales, SwiGLU, and int8 again.

Sources, named in the comments below:
  page         op-plugin, docs/zh/custom_APIs/torch_npu, the page
               "torch_npu-npu_dequant_swiglu_quant.md"
  C++          op-plugin, op_plugin/ops/opapi/DequantSwigluQuantOpApi.cpp
  meta         torch_npu 2.13.0, op_plugin/meta/_meta_registrations.py
  derivatives  op-plugin, op_plugin/config/derivatives.yaml
  test         op-plugin, test/test_custom_ops/test_npu_dequant_swiglu_quant.py
  aclnn        CANN ops-nn, the page of aclnnDequantSwigluQuantV2
"""
import torch

operator = "npu_dequant_swiglu_quant"
# The page's prototype has no dst_type, round_mode and activate_dim. They are
# for Ascend 950: C++ does not read them elsewhere.
schema = (
    "npu_dequant_swiglu_quant(Tensor x, *, Tensor? weight_scale=None, "
    "Tensor? activation_scale=None, Tensor? bias=None, Tensor? quant_scale=None, "
    "Tensor? quant_offset=None, Tensor? group_index=None, "
    "bool activate_left=False, int quant_mode=0, int? dst_type=None, "
    "int? round_mode=None, int? activate_dim=None, int swiglu_mode=0, "
    "float clamp_limit=7.0, float glu_alpha=1.702, float glu_bias=1.0) "
    "-> (Tensor, Tensor)"
)
summary = "scales, SwiGLU and int8; the right half is activated by default"
source = "op-plugin docs: torch_npu-npu_dequant_swiglu_quant.md"

# derivatives: no entry, and no fallback: gradients are lost with a warning.
autograd = "silent"
output_differentiability = (False, True)

products = ("Atlas A3", "Atlas A2")  # page, table of products
# 2.5.1 ends with quant_mode; 2.7.1 lacks the three for Ascend 950.
versions = "2.5.1, 2.7.1, 2.13.0, 2.14.0"


def limits(x, weight_scale, activation_scale, bias, quant_scale, quant_offset,
           group_index, activate_left, quant_mode, dst_type, round_mode,
           activate_dim, swiglu_mode, clamp_limit, glu_alpha, glu_bias):
    # page, parameter x: [T, 2H] of int32 or a half type.
    assert x.dtype in (torch.int32, torch.float16, torch.bfloat16), (
        "x is int32, float16 or bfloat16"
    )
    assert x.dim() == 2, "x has 2 dimensions"
    assert x.shape[1] % 2 == 0, "the last axis has an even size"
    # page, parameter group_index: counts. Constraints: H and bias, offset.
    if group_index is not None:
        assert group_index.dtype == torch.int64, "group_index is int64"
        assert group_index.dim() == 1, "group_index has 1 dimension"
        assert x.shape[1] <= 20992, "with groups the last axis is at most 20992"
        assert x.shape[1] % 128 == 0, "with groups the last axis is a multiple of 128"
        assert bias is None, "with groups there is no bias"
        assert quant_offset is None, "with groups there is no quant_offset"
    # page, parameter weight_scale: [G, 2H]; aclnn: [2H] too, without groups.
    if weight_scale is not None:
        assert weight_scale.dtype == torch.float32, "weight_scale is float32"
        assert weight_scale.dim() in (1, 2), "weight_scale has 1 or 2 dimensions"
        assert weight_scale.shape[-1] == x.shape[1], "weight_scale is as wide as x"
        if group_index is None:
            assert weight_scale.numel() == x.shape[1], "weight_scale has one row"
        if group_index is not None:
            assert weight_scale.shape[0] == group_index.shape[0], (
                "weight_scale has a row a group"
            )
    # page, parameter activation_scale: [T, 1], for int32, and never without.
    if activation_scale is None:
        assert x.dtype != torch.int32, "int32 has an activation_scale"
    if activation_scale is not None:
        assert x.dtype == torch.int32, "only int32 has an activation_scale"
        assert activation_scale.dtype == torch.float32, "activation_scale is float32"
        assert activation_scale.shape[0] == x.shape[0], (
            "activation_scale has one element a row"
        )
        assert activation_scale.numel() == x.shape[0], (
            "activation_scale has one element a row"
        )
    if bias is not None:
        assert x.dtype == torch.int32, "only int32 has a bias"
        assert bias.dtype == torch.int32, "bias is int32"
        assert bias.numel() == x.shape[1], "bias has one element a column"
    # page, parameters quant_mode, quant_scale and quant_offset; aclnn: a static
    # scale is one number.
    assert quant_mode in (0, 1), "quant_mode is 0 (static) or 1 (dynamic)"
    if quant_scale is not None:
        assert quant_scale.dtype in (torch.float32, torch.float16, torch.bfloat16), (
            "quant_scale is float32, float16 or bfloat16"
        )
        assert quant_mode == 1 or quant_scale.dtype == torch.float32, (
            "a static quant_scale is float32"
        )
        assert quant_scale.dim() in (1, 2), "quant_scale has 1 or 2 dimensions"
        if group_index is None:
            assert quant_scale.numel() * 2 == x.shape[1] or (
                quant_mode == 0 and quant_scale.numel() == 1
            ), "quant_scale is half as wide as x, or one number if static"
        if group_index is not None:
            assert quant_scale.dim() == 2, "with groups quant_scale has 2 dimensions"
            assert quant_scale.shape[0] == group_index.shape[0], (
                "quant_scale has a row a group"
            )
            assert quant_scale.shape[1] * 2 == x.shape[1], (
                "quant_scale is half as wide as x"
            )
    if quant_offset is not None:
        assert quant_scale is not None, "quant_offset goes with a quant_scale"
        if quant_scale is not None:
            assert quant_offset.dtype == quant_scale.dtype, (
                "quant_offset has quant_scale's dtype"
            )
            assert quant_offset.shape == quant_scale.shape, (
                "quant_offset has quant_scale's shape"
            )
    # C++ does not read these three here: it computes as with these values.
    assert dst_type in (None, 1, torch.int8), "dst_type is int8"
    assert round_mode in (None, 0), "round_mode is 0 (half to even)"
    assert activate_dim in (None, -1, 1), "activate_dim is the last axis"
    # C++ checks mode and clamp.
    assert swiglu_mode in (0, 1, 2), "swiglu_mode is 0, 1 or 2"
    assert clamp_limit > 0, "clamp_limit is above 0"


def _row(scale, i):
    """The i-th row of a scale in float32; of one axis, the whole."""
    return (scale[i] if scale.dim() == 2 else scale).float()


def _activated(x, activate_left, mode, clamp_limit, alpha, shift):
    if mode == 1:
        gate, up = x[:, ::2], x[:, 1::2]
    else:
        left, right = x.chunk(2, -1)
        gate, up = (left, right) if activate_left else (right, left)
    if mode == 0:
        return gate * torch.sigmoid(gate) * up
    gate, up = gate.clamp(max=clamp_limit), up.clamp(-clamp_limit, clamp_limit)
    return gate * torch.sigmoid(alpha * gate) * (up + shift)


def _dequantised(x, weight_scale, activation_scale, bias, i):
    if bias is not None:
        x = x + bias.reshape(-1)
    x = x.float()
    if weight_scale is not None:
        x = x * _row(weight_scale, i)
    return x if activation_scale is None else x * activation_scale.reshape(-1, 1)


def _quantised(y, quant_scale, quant_offset, quant_mode, i):
    """The rows before rounding, and their scale."""
    if quant_mode == 0:
        if quant_scale is not None:
            y = y / _row(quant_scale, i)
        if quant_offset is not None:
            y = y + _row(quant_offset, i)
        return y, torch.zeros_like(y[:, 0])
    if quant_scale is not None:
        y = y * _row(quant_scale, i)
    scale = y.abs().amax(-1) / 127.0
    return y / scale.unsqueeze(-1), scale


def golden(x, weight_scale=None, activation_scale=None, bias=None, quant_scale=None,
           quant_offset=None, group_index=None, activate_left=False, quant_mode=0,
           dst_type=None, round_mode=None, activate_dim=None, swiglu_mode=0,
           clamp_limit=7.0, glu_alpha=1.702, glu_bias=1.0):
    """Returns out (int8, [T, H]) and scale (float32, [T]).

    Dynamic: out * scale is SwiGLU times quant_scale. Static: divided by
    quant_scale, scale is 0 (test). A half type is multiplied by weight_scale
    too (page; test leaves it). Rows of no group are not written; here they are
    0. Everything in float32 (test).
    """
    counts = [len(x)] if group_index is None else group_index.tolist()
    outs, scales, first = [], [], 0
    for i, count in enumerate(counts):
        rows = slice(first, first + count)
        first += count
        on = None if activation_scale is None else activation_scale[rows]
        part = _dequantised(x[rows], weight_scale, on, bias, i)
        part = _activated(part, activate_left, swiglu_mode, clamp_limit, glu_alpha, glu_bias)
        part, scale = _quantised(part, quant_scale, quant_offset, quant_mode, i)
        outs.append(part)
        scales.append(scale)
    rest = max(len(x) - first, 0)
    outs.append(x.new_zeros((rest, x.shape[1] // 2), dtype=torch.float32))
    scales.append(x.new_zeros(rest, dtype=torch.float32))
    out = torch.round(torch.cat(outs)).clamp(-128, 127)
    return torch.nan_to_num(out, nan=0.0).to(torch.int8), torch.cat(scales)
