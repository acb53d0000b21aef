"""npu_scaled_masked_softmax: softmax over the last axis of scale * x, masked.

Sources, named in the comments below:
  page         op-plugin, docs/zh/custom_APIs/torch_npu, the page
               "torch_npu-npu_scaled_masked_softmax.md"
  meta         torch_npu 2.13.0, op_plugin/meta/_meta_registrations.py
  derivatives  op-plugin, op_plugin/config/derivatives.yaml
  test         op-plugin, test/test_base_ops/test_scaled_masked_softmax.py
"""
import torch

operator = "npu_scaled_masked_softmax"
schema = (
    "npu_scaled_masked_softmax(Tensor x, Tensor mask, Scalar scale=1, "
    "bool fixed_triu_mask=False) -> Tensor"
)
summary = "softmax of scaled scores; where the mask is True, of -10000"
source = "op-plugin docs: torch_npu-npu_scaled_masked_softmax.md"

autograd = "differentiable"  # derivatives: npu_scaled_masked_softmax_backward
output_differentiability = (True,)

# page, table of products.
products = (
    "Ascend 950DT",
    "Atlas A3",
    "Atlas A2",
    "Atlas inference series",
    "Atlas training series",
)
versions = "2.1.0, 2.5.1, 2.7.1, 2.13.0, 2.14.0"


def limits(x, mask, scale, fixed_triu_mask):
    # page, parameter x: the three floating types.
    assert x.dtype in (torch.float16, torch.bfloat16, torch.float32), (
        "x is float16, bfloat16 or float32"
    )
    # page, constraints: NCHW, H and W from 32 to 4096 and multiples of 32.
    assert x.dim() == 4, "x has 4 dimensions"
    assert x.shape[2] >= 32, "the last two axes have at least 32 elements"
    assert x.shape[3] >= 32, "the last two axes have at least 32 elements"
    assert x.shape[2] <= 4096, "the last two axes have at most 4096 elements"
    assert x.shape[3] <= 4096, "the last two axes have at most 4096 elements"
    assert x.shape[2] % 32 == 0, "the last two axes are multiples of 32"
    assert x.shape[3] % 32 == 0, "the last two axes are multiples of 32"
    # page, parameter mask: bool, and it can be broadcast to x.
    assert mask.dtype == torch.bool, "the mask is bool, True where masked"
    assert mask.dim() <= 4, "the mask has at most 4 dimensions"
    assert mask.dim() < 1 or mask.shape[-1] in (1, x.shape[3]), (
        "the mask can be broadcast to x"
    )
    assert mask.dim() < 2 or mask.shape[-2] in (1, x.shape[2]), (
        "the mask can be broadcast to x"
    )
    assert mask.dim() < 3 or mask.shape[-3] in (1, x.shape[1]), (
        "the mask can be broadcast to x"
    )
    assert mask.dim() < 4 or mask.shape[-4] in (1, x.shape[0]), (
        "the mask can be broadcast to x"
    )
    # page, parameter fixed_triu_mask: reserved.
    assert not fixed_triu_mask, "fixed_triu_mask is False"


def golden(x, mask, scale=1, fixed_triu_mask=False):
    """Returns y: x's shape and dtype.

    In float32 with one cast; masked scores are -10000, not minus infinity, so
    a row that is masked as a whole is uniform, not nan (test).
    """
    scores = (x.float() * scale).masked_fill(mask, -10000.0)
    return torch.softmax(scores, -1).to(x.dtype)
