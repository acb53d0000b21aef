"""npu_interleave_rope: pairs of neighbours are turned, and end in two halves.

Sources, named in the comments below:
  page         op-plugin, docs/zh/custom_APIs/torch_npu, the page
               "torch_npu-npu_interleave_rope.md"
  meta         torch_npu 2.13.0, op_plugin/meta/_meta_registrations.py
  fallback     op-plugin, op_plugin/ops/opapi/AutogradErrorFallback.cpp
"""
import torch

operator = "npu_interleave_rope"
schema = "npu_interleave_rope(Tensor x, Tensor cos, Tensor sin) -> Tensor"
summary = "rotary position embedding of neighbours, with the result in two halves"
source = "op-plugin docs: torch_npu-npu_interleave_rope.md"

autograd = "raises"  # fallback. The page says inference.
output_differentiability = (True,)

products = ("Atlas A3", "Atlas A2")  # page, table of products
versions = "2.5.1, 2.7.1, 2.13.0, 2.14.0"


def limits(x, cos, sin):
    # page, parameter x: BNSD of the half types, D is 64, no strides.
    assert x.dtype in (torch.float16, torch.bfloat16), "x is float16 or bfloat16"
    assert x.dim() == 4, "x has 4 dimensions"
    assert x.shape[3] == 64, "the last axis has 64 elements"
    assert x.is_contiguous(), "x is contiguous"
    # page, parameter cos: B of x, one head, S of x or 1, D of x.
    assert cos.dtype == x.dtype, "cos has x's dtype"
    assert cos.dim() == 4, "cos has 4 dimensions"
    assert cos.shape[0] == x.shape[0], "cos has x's batch size"
    assert cos.shape[1] == 1, "cos has one head"
    assert cos.shape[2] in (1, x.shape[2]), "cos has x's length, or 1"
    assert cos.shape[3] == 64, "cos has 64 columns"
    assert cos.is_contiguous(), "cos is contiguous"
    # page, parameter sin: as cos.
    assert sin.dtype == cos.dtype, "sin has cos's dtype"
    assert sin.shape == cos.shape, "sin has cos's shape"
    assert sin.is_contiguous(), "sin is contiguous"


def golden(x, cos, sin):
    """Returns y: x's shape and dtype.

    Internal precision is not documented; float32 with one cast is assumed.
    """
    even, odd = x.float()[..., ::2], x.float()[..., 1::2]
    halves = torch.cat((even, odd), -1)
    turned = torch.cat((-odd, even), -1)
    return (halves * cos.float() + turned * sin.float()).to(x.dtype)
