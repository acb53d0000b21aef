"""npu_geglu: one half of the input times GELU of the other half.

Sources, named in the comments below:
  docstring    torch_npu 2.13.0, _op_plugin_docs.py, entry npu_geglu
  meta         torch_npu 2.13.0, op_plugin/meta/_meta_registrations.py
  derivatives  op-plugin, op_plugin/config/derivatives.yaml
  aclnn        CANN, the public page of aclnnGeGluV3 (which half is activated)
There is no page in op-plugin's docs and no numeric test that runs.
"""
import torch

operator = "npu_geglu"
schema = (
    "npu_geglu(Tensor input, int dim=-1, int approximate=1, "
    "bool activate_left=False) -> (Tensor, Tensor)"
)
summary = "one half times GELU of the other; the right half by default"
source = "torch_npu docstring: npu_geglu"

# derivatives: a formula for `self`; the activated half is kept for it and
# carries no gradient of its own.
autograd = "differentiable"
output_differentiability = (True, False)

products = ()  # the docstring names none
versions = "2.5.1, 2.7.1, 2.13.0, 2.14.0"


def limits(input, dim, approximate, activate_left):
    # docstring, dtypes: bfloat16 on A2.
    assert input.dtype in (torch.float16, torch.bfloat16, torch.float32), (
        "the input is float16, bfloat16 or float32"
    )
    # docstring: 1 to 8 dimensions.
    assert input.dim() >= 1, "the input has at least 1 dimension"
    assert input.dim() <= 8, "the input has at most 8 dimensions"
    # meta: dim within [-ndim, ndim - 1], an even size along it.
    assert dim >= -input.dim(), "dim names an axis of the input"
    assert dim < input.dim(), "dim names an axis of the input"
    assert input.shape[dim] % 2 == 0, "the split axis has an even size"
    # docstring, approximate: 0 is the error function, 1 is tanh.
    assert approximate in (0, 1), "approximate is 0 (erf) or 1 (tanh)"


def golden(input, dim=-1, approximate=1, activate_left=False):
    """Returns y and the activated half: dim halved, the input's dtype.

    activate_left=False: A * gelu(B); True: gelu(A) * B (aclnn). Internal
    precision is not documented; float32 with one cast is assumed.
    """
    half = input.shape[dim] // 2
    left = input.narrow(dim, 0, half).float()
    right = input.narrow(dim, half, half).float()
    active, plain = (left, right) if activate_left else (right, left)
    if approximate == 1:
        inner = 0.7978845608028654 * (active + 0.044715 * active * active * active)
        gelu = 0.5 * active * (1.0 + torch.tanh(inner))
    else:
        gelu = 0.5 * active * (1.0 + torch.erf(active * 0.7071067811865476))
    return (gelu * plain).to(input.dtype), gelu.to(input.dtype)
