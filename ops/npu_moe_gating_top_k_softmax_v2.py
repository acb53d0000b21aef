"""npu_moe_gating_top_k_softmax_v2: as the first, with top k before softmax.

Sources, named in the comments below:
  docstring  torch_npu 2.13.0, _op_plugin_docs.py, entry
             npu_moe_gating_top_k_softmax_v2
  meta       torch_npu 2.13.0, op_plugin/meta/_meta_registrations.py
  test       op-plugin, test/test_custom_ops/
             test_npu_moe_gating_top_k_softmax_v2.py
"""
import torch

operator = "npu_moe_gating_top_k_softmax_v2"
schema = (
    "npu_moe_gating_top_k_softmax_v2(Tensor x, *, int k=1, "
    "Tensor? finished=None, int? renorm=0, bool? output_softmax=False) "
    "-> (Tensor, Tensor, Tensor)"
)
summary = "softmax over the experts and its k largest values, or over these alone"
source = "torch_npu docstring: npu_moe_gating_top_k_softmax_v2"

# No derivative and no fallback is registered.
autograd = "silent"
output_differentiability = (True, False, False)

products = ("Atlas A2", "Atlas A3")  # docstring
versions = "2.13.0, 2.14.0"


def limits(x, k, finished, renorm, output_softmax):
    # docstring, parameter x.
    assert x.dtype in (torch.float16, torch.bfloat16, torch.float32), (
        "x is float16, bfloat16 or float32"
    )
    assert x.dim() in (2, 3), "x has 2 or 3 axes"
    # docstring, parameter finished.
    if finished is not None:
        assert finished.dtype == torch.bool, "finished is bool"
        assert finished.shape == x.shape[:-1], "finished has a value for each row"
    # docstring, parameter k.
    assert k > 0, "k is more than 0"
    assert k <= x.shape[-1], "k is at most the number of experts"
    assert k <= 1024, "k is at most 1024"
    # test; the docstring names no values.
    assert renorm in (None, 0, 1), "renorm is 0 or 1"


def golden(x, k=1, finished=None, renorm=0, output_softmax=False):
    """Returns y (x's dtype), expert_idx (int32): (..., k), and the softmax
    (float32, x's shape) with renorm 0 and output_softmax, else an empty one.

    renorm 1: softmax of the k largest values. The third result is the softmax
    (meta, test); the docstring calls it row_idx.
    """
    wide = x.float()
    order = torch.argsort(wide, dim=-1, descending=True, stable=True)[..., :k]
    if renorm == 1:
        y = softmax(wide.gather(-1, order))
        whole = wide.new_empty(0)
    else:
        p = softmax(wide)
        order = torch.argsort(p, dim=-1, descending=True, stable=True)[..., :k]
        y = p.gather(-1, order)
        whole = p if output_softmax else wide.new_empty(0)
    if finished is not None:
        order = order.masked_fill(finished.unsqueeze(-1), x.shape[-1])
    return y.to(x.dtype), order.to(torch.int32), whole


def softmax(x):
    e = torch.exp(x - x.amax(-1, keepdim=True))
    return e / e.sum(-1, keepdim=True)
