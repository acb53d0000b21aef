"""npu_dynamic_quant: int8 values and the scale of each row.

Sources, named in the comments below:
  page  op-plugin, docs/zh/custom_APIs/torch_npu, the page
        "torch_npu-npu_dynamic_quant.md"
  meta  torch_npu 2.13.0, op_plugin/meta/_meta_registrations.py
"""
import torch

operator = "npu_dynamic_quant"
schema = (
    "npu_dynamic_quant(Tensor input, *, Tensor? smooth_scales=None, "
    "Tensor? group_index=None, int? dst_type=None, "
    "str quant_mode=\"pertoken\", float dst_type_max=0.0) -> (Tensor, Tensor)"
)
summary = "quantises each row to int8 by its largest value"
source = "op-plugin docs: torch_npu-npu_dynamic_quant.md"

# No derivative and no fallback is registered: gradients are dropped.
autograd = "silent"
output_differentiability = (False, False)

products = ("Atlas A3", "Atlas A2")  # page
versions = "2.5.1, 2.7.1, 2.13.0, 2.14.0"


def limits(input, smooth_scales, group_index, dst_type, quant_mode, dst_type_max):
    # page, parameter x.
    assert input.dtype in (torch.float16, torch.bfloat16), (
        "input is float16 or bfloat16"
    )
    assert input.dim() >= 2, "input has at least 2 axes"
    # page, parameter smooth_scales.
    if smooth_scales is not None:
        assert smooth_scales.dtype == input.dtype, "smooth_scales has input's dtype"
        assert smooth_scales.shape[-1] == input.shape[-1], (
            "smooth_scales is as wide as input"
        )
        assert group_index is not None or smooth_scales.dim() == 1, (
            "smooth_scales has 1 axis without group_index"
        )
        assert group_index is None or smooth_scales.dim() == 2, (
            "smooth_scales has 2 axes with group_index"
        )
    # page, parameter group_index.
    if group_index is not None:
        assert group_index.dtype == torch.int32, "group_index is int32"
        assert group_index.dim() == 1, "group_index has 1 axis"
        assert smooth_scales is not None, "group_index needs smooth_scales"
    # page, parameter dst_type: int8 (by number 1) or quint4x2 (16).
    assert dst_type in (None, 1, 16, torch.int8, torch.quint4x2), (
        "dst_type is int8 or quint4x2"
    )
    assert dst_type not in (16, torch.quint4x2) or input.shape[-1] % 8 == 0, (
        "input's last axis is a multiple of 8 with quint4x2"
    )
    # meta, the modes there are.
    assert quant_mode in ("pertoken", "perchannel", "pertensor"), (
        "quant_mode is pertoken, perchannel or pertensor"
    )


def golden(input, smooth_scales=None, group_index=None, dst_type=None,
           quant_mode="pertoken", dst_type_max=0.0):
    """Returns int8 (input's shape) and the scales (float32, without the last
    axis): the largest of |x * smooth| of a row, over 127. quint4x2 and the
    modes beside pertoken are not emulated.
    """
    assert dst_type in (None, 1, torch.int8) and quant_mode == "pertoken", (
        "npu_dynamic_quant: emulated for int8, pertoken"
    )
    x = input.float()
    if smooth_scales is not None:
        smooth = smooth_scales.float()
        if group_index is not None:
            counts = torch.diff(group_index.long(), prepend=group_index.new_zeros(1).long())
            smooth = smooth.repeat_interleave(counts, 0).view(x.shape)
        x = x * smooth
    scale = x.abs().amax(-1) / 127.0
    y = x / scale.clamp(min=1e-38).unsqueeze(-1)
    return y.round().clamp(-128, 127).to(torch.int8), scale
