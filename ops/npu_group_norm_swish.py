"""npu_group_norm_swish: h = group_norm(x), y = h * sigmoid(swish_scale * h).

Sources, named in the comments below:
  page         op-plugin, docs/zh/custom_APIs/torch_npu, the page
               "torch_npu-npu_group_norm_swish.md"
  C++          op-plugin, op_plugin/config/op_plugin_functions.yaml
  meta         torch_npu 2.13.0, op_plugin/meta/_meta_registrations.py
  derivatives  op-plugin, op_plugin/config/derivatives.yaml
  test         op-plugin, test/test_custom_ops/test_npu_group_norm_swish.py
"""
import torch

operator = "npu_group_norm_swish"
schema = (
    "npu_group_norm_swish(Tensor input, int num_groups, Tensor weight, "
    "Tensor bias, float? eps=1e-5, float? swish_scale=1.0) "
    "-> (Tensor, Tensor, Tensor)"
)
summary = "group normalisation and Swish, for training too"
source = "op-plugin docs: torch_npu-npu_group_norm_swish.md"

# derivatives: a formula for input, weight and bias by the first output's
# gradient alone. With gradients a group has at most 4000 channels (page).
autograd = "differentiable"
output_differentiability = (True, False, False)

products = ("Atlas A3", "Atlas A2")  # page, table of products
versions = "2.5.1, 2.7.1, 2.13.0, 2.14.0"


def limits(input, num_groups, weight, bias, eps, swish_scale):
    # page, parameter input: the three floating types, 2 to 8 dimensions.
    assert input.dtype in (torch.float16, torch.bfloat16, torch.float32), (
        "the input is float16, bfloat16 or float32"
    )
    assert input.dim() >= 2, "the input has at least 2 dimensions"
    assert input.dim() <= 8, "the input has at most 8 dimensions"
    # page, parameter num_groups.
    assert num_groups > 0, "num_groups is above 0"
    assert input.shape[1] % num_groups == 0, "axis 1 is divisible by num_groups"
    assert not input.requires_grad or input.shape[1] <= 4000 * num_groups, (
        "with gradients a group has at most 4000 channels"
    )
    # page, parameters weight and bias: one element a channel, the input's dtype.
    assert weight.dim() == 1, "weight has 1 dimension"
    assert weight.shape[0] == input.shape[1], "weight has one element a channel"
    assert weight.dtype == input.dtype, "weight has the input's dtype"
    assert bias.dim() == 1, "bias has 1 dimension"
    assert bias.shape[0] == input.shape[1], "bias has one element a channel"
    assert bias.dtype == input.dtype, "bias has the input's dtype"


def golden(input, num_groups, weight, bias, eps=1e-5, swish_scale=1.0):
    """Returns y (input's shape), mean and rstd (N by num_groups), one dtype.

    None stands for the defaults (C++). Internal precision is not documented;
    float32 with one cast is assumed.
    """
    eps = 1e-5 if eps is None else eps
    scale = 1.0 if swish_scale is None else swish_scale
    x = input.float().reshape(input.shape[0], num_groups, -1)
    mean = x.mean(-1, keepdim=True)
    centred = x - mean
    rstd = 1.0 / torch.sqrt((centred * centred).mean(-1, keepdim=True) + eps)
    channels = (1, -1) + (1,) * (input.dim() - 2)
    normal = (centred * rstd).reshape(input.shape)
    normal = normal * weight.float().reshape(channels) + bias.float().reshape(channels)
    y = normal * torch.sigmoid(scale * normal)
    dtype = input.dtype
    return y.to(dtype), mean.squeeze(-1).to(dtype), rstd.squeeze(-1).to(dtype)
