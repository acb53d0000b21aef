"""npu_group_norm_silu: silu(group_norm(x)), with mean and rstd.

Sources, named in the comments below:
  page         op-plugin, docs/zh/custom_APIs/torch_npu, the page
               "torch_npu-npu_group_norm_silu.md"
  C++          op-plugin, op_plugin/utils/KernelNpuOutputDtype.cpp
  meta         torch_npu 2.13.0, op_plugin/meta/_meta_registrations.py
  derivatives  op-plugin, op_plugin/config/derivatives.yaml
  test         op-plugin, test/test_custom_ops/test_group_norm_silu.py
"""
import torch

operator = "npu_group_norm_silu"
schema = (
    "npu_group_norm_silu(Tensor input, Tensor? weight, Tensor? bias, int group, "
    "float eps=0.00001) -> (Tensor, Tensor, Tensor)"
)
summary = "group normalisation and SiLU, for inference"
source = "op-plugin docs: torch_npu-npu_group_norm_silu.md"

# derivatives: no entry, and no fallback: gradients are lost with a warning,
# though the page says training. npu_group_norm_swish has them.
autograd = "silent"
output_differentiability = (True, True, True)

# page, table of products.
products = ("Atlas A2", "Atlas inference series (no bfloat16)")
versions = "2.5.1, 2.7.1, 2.13.0, 2.14.0"


def limits(input, weight, bias, group, eps):
    # page, parameter input: the three floating types.
    assert input.dtype in (torch.float16, torch.bfloat16, torch.float32), (
        "the input is float16, bfloat16 or float32"
    )
    # page, constraints: 2 to 8 dimensions, none empty.
    assert input.dim() >= 2, "the input has at least 2 dimensions"
    assert input.dim() <= 8, "the input has at most 8 dimensions"
    assert input.numel() > 0, "the input is not empty"
    # page, constraints: group above 0, and a divisor of axis 1.
    assert group > 0, "group is above 0"
    assert input.shape[1] % group == 0, "axis 1 is divisible by group"
    assert eps > 0, "eps is above 0"
    # page, constraints: one element a channel, a precision not below the
    # input's, the same for both.
    if weight is not None:
        assert weight.dim() == 1, "weight has 1 dimension"
        assert weight.shape[0] == input.shape[1], "weight has one element a channel"
        assert weight.dtype in (input.dtype, torch.float32), (
            "weight has the input's dtype or is float32"
        )
    if bias is not None:
        assert bias.dim() == 1, "bias has 1 dimension"
        assert bias.shape[0] == input.shape[1], "bias has one element a channel"
        assert bias.dtype in (input.dtype, torch.float32), (
            "bias has the input's dtype or is float32"
        )
        if weight is not None:
            assert bias.dtype == weight.dtype, "bias has weight's dtype"


def golden(input, weight, bias, group, eps=0.00001):
    """Returns out (input's shape and dtype), mean and rstd (N by group).

    mean and rstd have the input's dtype (page and C++; meta says weight's,
    which holds for Ascend 950 alone). Internal precision is not documented;
    float32 with one cast is assumed.
    """
    x = input.float().reshape(input.shape[0], group, -1)
    mean = x.mean(-1, keepdim=True)
    centred = x - mean
    rstd = 1.0 / torch.sqrt((centred * centred).mean(-1, keepdim=True) + eps)
    normal = (centred * rstd).reshape(input.shape)
    channels = (1, -1) + (1,) * (input.dim() - 2)
    if weight is not None:
        normal = normal * weight.float().reshape(channels)
    if bias is not None:
        normal = normal + bias.float().reshape(channels)
    out = normal * torch.sigmoid(normal)
    dtype = input.dtype
    return out.to(dtype), mean.squeeze(-1).to(dtype), rstd.squeeze(-1).to(dtype)
