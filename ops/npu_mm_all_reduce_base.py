"""npu_mm_all_reduce_base: a matrix product summed over the ranks.

Sources, named in the comments below:
  page  op-plugin, docs/zh/custom_APIs/torch_npu, the page
        "torch_npu-npu_mm_all_reduce_base.md"
  meta  torch_npu 2.13.0, op_plugin/meta/_meta_registrations.py
"""
import torch

operator = "npu_mm_all_reduce_base"
schema = (
    "npu_mm_all_reduce_base(Tensor x1, Tensor x2, str hcom, *, "
    "str reduce_op='sum', Tensor? bias=None, Tensor? antiquant_scale=None, "
    "Tensor? antiquant_offset=None, Tensor? x3=None, "
    "Tensor? dequant_scale=None, Tensor? pertoken_scale=None, "
    "Tensor? comm_quant_scale_1=None, Tensor? comm_quant_scale_2=None, "
    "int antiquant_group_size=0, int comm_turn=0, int[]? group_sizes=None, "
    "int? y_dtype=None, int? x1_dtype=None, int? x2_dtype=None, "
    "int? dequant_scale_dtype=None, int? pertoken_scale_dtype=None, "
    "int comm_quant_mode=0, str? comm_mode=None) -> Tensor"
)
summary = "a matrix product and the sum of it over all ranks, overlapped"
source = "op-plugin docs: torch_npu-npu_mm_all_reduce_base.md"

# No derivative and no fallback is registered: gradients are dropped.
autograd = "silent"
output_differentiability = (True,)

products = ("Atlas A2",)  # page
versions = "2.5.1, 2.7.1, 2.13.0, 2.14.0"


def limits(x1, x2, hcom, reduce_op, bias, antiquant_scale, antiquant_offset, x3,
           dequant_scale, pertoken_scale, comm_quant_scale_1, comm_quant_scale_2,
           antiquant_group_size, comm_turn, group_sizes, y_dtype, x1_dtype,
           x2_dtype, dequant_scale_dtype, pertoken_scale_dtype, comm_quant_mode,
           comm_mode):
    # page, parameters x1 and x2.
    assert x1.dtype in (torch.int8, torch.float16, torch.bfloat16), (
        "x1 is int8, float16 or bfloat16"
    )
    assert x1.dim() in (2, 3), "x1 has 2 or 3 axes"
    assert x1.numel() > 0, "x1 is not empty"
    assert x2.dtype in (x1.dtype, torch.int8), "x2 has x1's dtype, or is int8"
    assert x2.dim() == 2, "x2 has 2 axes"
    assert x2.shape[0] == x1.shape[-1], (
        "x2's first axis is x1's last (K x N, not N x K)"
    )
    # page, constraints: no transposed x1.
    assert x1.is_contiguous(), "x1 is contiguous"
    # page, parameter reduce_op.
    assert reduce_op == "sum", "reduce_op is sum"
    # page, parameter bias: on one rank only, for it is summed as well.
    if bias is not None:
        assert bias.dtype == (torch.int32 if x1.dtype == torch.int8 else x1.dtype), (
            "bias has x1's dtype, or is int32 beside int8"
        )
        assert bias.dim() == 1, "bias has 1 axis"
        assert bias.shape[0] == x2.shape[1], "bias has a value for each column"
    # page, quantised weights.
    assert x2.dtype == x1.dtype or antiquant_scale is not None, (
        "an int8 x2 beside a float x1 needs antiquant_scale"
    )
    if antiquant_scale is not None:
        assert antiquant_scale.dtype == x1.dtype, "antiquant_scale has x1's dtype"
    if antiquant_offset is not None:
        assert antiquant_offset.dtype == x1.dtype, "antiquant_offset has x1's dtype"
    assert x1.dtype != torch.int8 or dequant_scale is not None, (
        "an int8 x1 needs dequant_scale"
    )
    if pertoken_scale is not None:
        assert pertoken_scale.dtype == torch.float32, "pertoken_scale is float32"
    # page, parameter x3.
    if x3 is not None:
        assert x3.dtype in (torch.float16, torch.bfloat16), (
            "x3 is float16 or bfloat16"
        )
        assert x3.dim() == x1.dim(), "x3 has the output's axes"
    # page, parameters comm_quant_scale_1 and _2.
    assert (comm_quant_scale_1 is None) == (comm_quant_scale_2 is None), (
        "comm_quant_scale_1 and comm_quant_scale_2 are given together"
    )
    assert comm_turn == 0, "comm_turn is 0"
