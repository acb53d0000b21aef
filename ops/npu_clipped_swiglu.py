"""npu_clipped_swiglu: min(A, limit) * sigmoid(alpha * min(A, limit)) * (clamp(B) + bias).

Sources, named in the comments below:
  page         op-plugin, docs/zh/custom_APIs/torch_npu, the page
               "torch_npu-npu_clipped_swiglu.md"
  meta         torch_npu 2.13.0, op_plugin/meta/_meta_registrations.py
  derivatives  op-plugin, op_plugin/config/derivatives.yaml
  test         op-plugin, test/test_custom_ops/test_npu_clipped_swiglu.py
"""
import torch

operator = "npu_clipped_swiglu"
schema = (
    "npu_clipped_swiglu(Tensor x, *, Tensor? group_index=None, int dim=-1, "
    "float alpha=1.702, float limit=7.0, float bias=1.0, bool interleaved=True) "
    "-> Tensor"
)
summary = "gated SiLU with clamps and a bias; even and odd columns by default"
source = "op-plugin docs: torch_npu-npu_clipped_swiglu.md"

# derivatives: no entry, and no fallback: gradients are lost with a warning.
# The page says inference.
autograd = "silent"
output_differentiability = (True,)

products = ("Atlas A3", "Atlas A2")  # page, table of products
versions = "2.13.0, 2.14.0"


def limits(x, group_index, dim, alpha, limit, bias, interleaved):
    # page, parameter x: the three floating types, no strides, more than 1
    # dimension, an even size along dim.
    assert x.dtype in (torch.float16, torch.bfloat16, torch.float32), (
        "x is float16, bfloat16 or float32"
    )
    assert x.dim() >= 2, "x has at least 2 dimensions"
    assert x.is_contiguous(), "x is contiguous"
    # page, parameter dim: within [-x.dim(), x.dim() - 1].
    assert dim >= -x.dim(), "dim names an axis of x"
    assert dim < x.dim(), "dim names an axis of x"
    assert x.shape[dim] % 2 == 0, "the split axis has an even size"
    # page, parameter group_index: the number of rows of each group.
    if group_index is not None:
        assert group_index.dtype == torch.int64, "group_index is int64"
        assert group_index.dim() == 1, "group_index has 1 dimension"


def golden(x, group_index=None, dim=-1, alpha=1.702, limit=7.0, bias=1.0,
           interleaved=True):
    """Returns y: dim halved, x's dtype.

    The axes from dim on are one (page): interleaved takes every second element
    of that. Rows after the last group are 0 (test). Internal precision is not
    documented; float32 with one cast is assumed.
    """
    rows = x.float().reshape(-1, x.shape[dim:].numel())
    if interleaved:
        gate, up = rows[:, ::2], rows[:, 1::2]
    else:
        gate, up = rows.chunk(2, -1)
    gate, up = gate.clamp(max=limit), up.clamp(-limit, limit)
    y = gate * torch.sigmoid(alpha * gate) * (up + bias)
    if group_index is not None:
        within = torch.arange(len(rows), device=x.device) < group_index.sum()
        y = y * within.unsqueeze(-1)
    shape = list(x.shape)
    shape[dim] = shape[dim] // 2
    return y.reshape(shape).to(x.dtype)
