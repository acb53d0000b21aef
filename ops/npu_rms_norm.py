"""npu_rms_norm: y = x / sqrt(mean(x^2) + epsilon) * gamma, and rstd.

Sources, named in the comments below:
  page         op-plugin, docs/zh/custom_APIs/torch_npu, the page
               "(beta) torch_npu-npu_rms_norm.md"
  meta         torch_npu 2.13.0, op_plugin/meta/_meta_registrations.py
  derivatives  op-plugin, op_plugin/config/derivatives.yaml
  test         op-plugin, test/test_custom_ops/test_npu_rms_norm.py
"""
import torch

operator = "npu_rms_norm"
schema = (
    "npu_rms_norm(Tensor input, Tensor gamma, float epsilon=1e-06) "
    "-> (Tensor, Tensor)"
)
summary = "root mean square normalisation over the trailing axes of gamma"
source = "op-plugin docs: torch_npu-npu_rms_norm.md"

# derivatives: a formula for `self` and `gamma`; rstd carries no gradient.
autograd = "differentiable"
output_differentiability = (True, False)

# page, table of products. The last two take equal dtypes only, and no
# bfloat16; limits() describes the first three.
products = (
    "Ascend 950PR/950DT",
    "Atlas A3",
    "Atlas A2",
    "Atlas inference series (equal dtypes)",
    "Atlas training series (equal dtypes)",
)
# Their libraries register it; the schema string is that of 2.13.0.
versions = "2.1.0, 2.5.1, 2.7.1, 2.13.0, 2.14.0"


def limits(input, gamma, epsilon):
    # page, parameter self: the three floating types.
    assert input.dtype in (torch.float16, torch.bfloat16, torch.float32), (
        "the input is float16, bfloat16 or float32"
    )
    # page, parameter self: 2 to 8 dimensions.
    assert input.dim() >= 2, "the input has at least 2 dimensions"
    assert input.dim() <= 8, "the input has at most 8 dimensions"
    # page, parameter gamma: gamma_shape = self_shape[n:], n < self.dim().
    # (It also says 2 to 8 dimensions; its own example passes one.)
    assert gamma.dim() >= 1, "gamma has at least 1 dimension"
    assert gamma.dim() <= input.dim(), "gamma has no more axes than the input"
    assert gamma.shape == input.shape[-gamma.dim():], (
        "gamma has the shape of the input's last axes"
    )
    # page, table of dtype pairs for A2, A3 and 950: equal, or float32 gamma.
    assert gamma.dtype in (input.dtype, torch.float32), (
        "gamma has the input's dtype or is float32"
    )


def golden(input, gamma, epsilon=1e-6):
    """Returns y (input's shape and dtype) and rstd (float32).

    Computed in float32 with one cast at the end (test). rstd keeps the
    normalised axes with size 1 (meta).
    """
    axes = tuple(range(-gamma.dim(), 0))
    x = input.float()
    rstd = 1.0 / torch.sqrt((x * x).mean(axes, keepdim=True) + epsilon)
    return (x * rstd * gamma.float()).to(input.dtype), rstd
