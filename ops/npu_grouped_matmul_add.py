"""npu_grouped_matmul_add: products of groups added up in float32.

Sources, named in the comments below:
  docstring  torch_npu 2.13.0, _op_plugin_docs.py, entry npu_grouped_matmul_add
  meta       torch_npu 2.13.0, op_plugin/meta/_meta_registrations.py
  test       op-plugin, test/test_custom_ops/test_npu_grouped_matmul_add.py
"""
import torch

from npufuse import groups

operator = "npu_grouped_matmul_add"
schema = (
    "npu_grouped_matmul_add(Tensor input, Tensor x, Tensor weight, "
    "Tensor group_list, *, bool transpose_x=True, "
    "bool transpose_weight=False, int group_type=2, int? group_list_type=0) "
    "-> Tensor"
)
summary = "adds the product of each group's rows to a sum: the gradient of grouped weights"
source = "torch_npu docstring: npu_grouped_matmul_add"

# No derivative and no fallback is registered: gradients are dropped.
autograd = "silent"
output_differentiability = (True,)

products = ("Ascend 950DT", "Atlas A3", "Atlas A2")  # docstring
versions = "2.13.0, 2.14.0"

roles = ("group_list: group_list", "group_list_type: group_list_type")


def limits(input, x, weight, group_list, transpose_x, transpose_weight, group_type,
           group_list_type):
    # docstring, parameter self.
    assert input.dtype == torch.float32, "input is float32"
    assert input.dim() == 3, "input has 3 axes"
    # docstring, parameters x and weight.
    assert x.dtype in (torch.float16, torch.bfloat16), "x is float16 or bfloat16"
    assert x.dim() == 2, "x has 2 axes"
    assert weight.dtype == x.dtype, "weight has x's dtype"
    assert weight.dim() == 2, "weight has 2 axes"
    assert weight.shape[0] == x.shape[0], "x and weight have one number of rows"
    assert input.shape[1] == x.shape[1], "input's second axis is x's last"
    assert input.shape[2] == weight.shape[1], "input's last axis is weight's last"
    assert x.shape[1] < 65536, "x's last axis is less than 65536"
    assert weight.shape[1] < 65536, "weight's last axis is less than 65536"
    # docstring, parameter group_list.
    assert group_list.dtype == torch.int64, "group_list is int64"
    assert group_list.dim() == 1, "group_list has 1 axis"
    assert group_list.shape[0] == input.shape[0], "there is a sum for each group"
    assert group_list.shape[0] <= 1024, "there are at most 1024 groups"
    # docstring: the only values there are.
    assert transpose_x, "transpose_x is True"
    assert not transpose_weight, "transpose_weight is False"
    assert group_type == 2, "group_type is 2"
    assert group_list_type in (None, 0, 1), "group_list_type is 0 or 1"


def golden(input, x, weight, group_list, transpose_x=True, transpose_weight=False,
           group_type=2, group_list_type=0):
    """Returns input plus x^T weight of each group's rows, float32."""
    spans = groups.group_spans(group_list, group_list_type or 0, len(input))
    y = input.clone()
    for group, a, b in spans:
        y[group] += x[a:b].float().t() @ weight[a:b].float()
    return y
