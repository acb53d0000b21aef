"""npu_transpose_batchmatmul: a batched product between two transposes.

Sources, named in the comments below:
  page  op-plugin, docs/zh/custom_APIs/torch_npu, the page
        "torch_npu-npu_transpose_batchmatmul.md"
  meta  torch_npu 2.13.0, op_plugin/meta/_meta_registrations.py
"""
import torch

operator = "npu_transpose_batchmatmul"
schema = (
    "npu_transpose_batchmatmul(Tensor input, Tensor weight, *, "
    "Tensor? bias=None, Tensor? scale=None, int[]? perm_x1=None, "
    "int[]? perm_x2=None, int[]? perm_y=None, int? batch_split_factor=1) -> "
    "Tensor"
)
summary = "a batched matrix product of transposed tensors, its first axes swapped"
source = "op-plugin docs: torch_npu-npu_transpose_batchmatmul.md"

# No derivative and no fallback is registered: gradients are dropped.
autograd = "silent"
output_differentiability = (True,)

products = ("Atlas A3", "Atlas A2")  # page
versions = "2.7.1, 2.13.0, 2.14.0"


def limits(input, weight, bias, scale, perm_x1, perm_x2, perm_y,
           batch_split_factor):
    # page and meta, parameters input and weight.
    assert input.dtype in (torch.float16, torch.bfloat16, torch.float32), (
        "input is float16, bfloat16 or float32"
    )
    assert weight.dtype == input.dtype, "weight has input's dtype"
    assert input.dim() == 3, "input has 3 axes"
    assert weight.dim() == 3, "weight has 3 axes"
    # meta. perm_x2 [0, 2, 1] needs CANN 8.5.0; the page does not have it.
    assert perm_x1 in (None, [0, 1, 2], [1, 0, 2]), "perm_x1 is [0, 1, 2] or [1, 0, 2]"
    assert perm_x2 in (None, [0, 1, 2], [0, 2, 1]), "perm_x2 is [0, 1, 2] or [0, 2, 1]"
    assert perm_y in (None, [1, 0, 2]), "perm_y is [1, 0, 2]"
    assert perm_x1 == [1, 0, 2] or input.shape[0] == weight.shape[0], (
        "input and weight have one batch size"
    )
    assert perm_x1 != [1, 0, 2] or input.shape[1] == weight.shape[0], (
        "input and weight have one batch size"
    )
    assert perm_x2 == [0, 2, 1] or weight.shape[1] == input.shape[2], (
        "weight's second axis is input's last"
    )
    assert perm_x2 != [0, 2, 1] or weight.shape[2] == input.shape[2], (
        "weight's last axis is input's last"
    )
    # page, constraints.
    assert weight.shape[1] % 16 == 0, "weight's second axis is a multiple of 16"
    assert weight.shape[2] % 16 == 0, "weight's last axis is a multiple of 16"
    assert input.shape[2] < 65536, "input's last axis is less than 65536"
    assert perm_x1 != [1, 0, 2] or input.shape[1] * input.shape[2] < 65536, (
        "the transposed input's rows hold less than 65536"
    )
    # page: reserved.
    assert bias is None, "bias is not supported"
    # page, parameters scale and batch_split_factor.
    if scale is not None:
        assert scale.dtype == torch.int64, "scale is int64"
        assert scale.dim() == 1, "scale has 1 axis"
        assert batch_split_factor in (None, 1), "scale needs batch_split_factor 1"
    assert batch_split_factor in (None, 1) or (
        weight.shape[0] % batch_split_factor == 0
    ), "batch_split_factor divides the batch"


def golden(input, weight, bias=None, scale=None, perm_x1=None, perm_x2=None,
           perm_y=None, batch_split_factor=1):
    """Returns (M, B, N) in input's dtype, or with a batch_split_factor f
    (f, M, B * N / f). Packed scales (int64) are not emulated.
    """
    assert scale is None, "npu_transpose_batchmatmul: scale is not emulated"
    left = input.permute(perm_x1 or (0, 1, 2)).float()
    right = weight.permute(perm_x2 or (0, 1, 2)).float()
    y = (left @ right).permute(perm_y or (1, 0, 2)).to(input.dtype)
    if (batch_split_factor or 1) == 1:
        return y
    parts = y.reshape(y.shape[0], batch_split_factor, -1)
    return parts.transpose(0, 1)
