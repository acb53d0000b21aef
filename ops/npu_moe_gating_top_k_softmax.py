"""npu_moe_gating_top_k_softmax: the k likeliest experts of each token.

Sources, named in the comments below:
  page  op-plugin, docs/zh/custom_APIs/torch_npu, the page
        "torch_npu-npu_moe_gating_top_k_softmax.md"
  meta  torch_npu 2.13.0, op_plugin/meta/_meta_registrations.py
  test  op-plugin, test/test_custom_ops/test_npu_moe_gating_top_k_softmax.py
  grad  op-plugin, test/test_base_ops/test_autograd_error_fallback.py
"""
import torch

operator = "npu_moe_gating_top_k_softmax"
schema = (
    "npu_moe_gating_top_k_softmax(Tensor x, Tensor? finished=None, int k=1) "
    "-> (Tensor, Tensor, Tensor)"
)
summary = "softmax over the experts and its k largest values"
source = "op-plugin docs: torch_npu-npu_moe_gating_top_k_softmax.md"

autograd = "raises"  # grad: backward is an error
output_differentiability = (True, False, False)

products = ("Atlas A3", "Atlas A2")  # page
versions = "2.5.1, 2.7.1, 2.13.0, 2.14.0"


def limits(x, finished, k):
    # page, parameter x.
    assert x.dtype in (torch.float16, torch.bfloat16, torch.float32), (
        "x is float16, bfloat16 or float32"
    )
    assert x.dim() in (2, 3), "x has 2 or 3 axes"
    # page, parameter finished.
    if finished is not None:
        assert finished.dtype == torch.bool, "finished is bool"
        assert finished.shape == x.shape[:-1], "finished has a value for each row"
    # page, parameter k.
    assert k > 0, "k is more than 0"
    assert k <= x.shape[-1], "k is at most the number of experts"
    assert k <= 1024, "k is at most 1024"


def golden(x, finished=None, k=1):
    """Returns y (x's dtype), expert_idx and row_idx (int32): (..., k).

    Equal values keep the experts' order; rows that are finished have expert
    number E; row_idx counts down the columns (test).
    """
    p = torch.exp(x.float() - x.float().amax(-1, keepdim=True))
    p = p / p.sum(-1, keepdim=True)
    index = torch.argsort(p, dim=-1, descending=True, stable=True)[..., :k]
    y = p.gather(-1, index)
    if finished is not None:
        index = index.masked_fill(finished.unsqueeze(-1), x.shape[-1])
    count = y.numel() // k
    rows = torch.arange(count * k, device=x.device).view(k, count).t()
    rows = rows.reshape(y.shape)
    return y.to(x.dtype), index.to(torch.int32), rows.to(torch.int32)
