"""npu_gemma_rms_norm: y = x / sqrt(mean(x^2) + epsilon) * (1 + gamma), and rstd.

Sources, named in the comments below:
  docstring    torch_npu 2.13.0, _op_plugin_docs.py, entry npu_gemma_rms_norm
  C++          op-plugin, op_plugin/ops/opapi/GemmaRmsNormKernelOpApi.cpp
  meta         torch_npu 2.13.0, op_plugin/meta/_meta_registrations.py
  derivatives  op-plugin, op_plugin/config/derivatives.yaml
  test         op-plugin, test/test_custom_ops/test_npu_gemma_rms_norm.py
  aclnn        CANN ops-nn, the page of aclnnGemmaRmsNorm
There is no page in op-plugin's docs.
"""
import torch

operator = "npu_gemma_rms_norm"
schema = (
    "npu_gemma_rms_norm(Tensor input, Tensor gamma, float epsilon=1e-06) "
    "-> (Tensor, Tensor)"
)
summary = "root mean square normalisation that multiplies by 1 + gamma"
source = "torch_npu docstring: npu_gemma_rms_norm"

# derivatives: no entry, and no fallback: gradients are lost with a warning.
autograd = "silent"
output_differentiability = (True, True)

products = ("Atlas A3", "Atlas A2")  # docstring
versions = "2.5.1, 2.7.1, 2.13.0, 2.14.0"


def limits(input, gamma, epsilon):
    # docstring, parameter input: the three floating types, 1 to 8 dimensions.
    assert input.dtype in (torch.float16, torch.bfloat16, torch.float32), (
        "the input is float16, bfloat16 or float32"
    )
    assert input.dim() >= 1, "the input has at least 1 dimension"
    assert input.dim() <= 8, "the input has at most 8 dimensions"
    # docstring, parameter gamma: gamma_shape = input_shape[n:], the same dtype.
    assert gamma.dim() >= 1, "gamma has at least 1 dimension"
    assert gamma.dim() <= input.dim(), "gamma has no more axes than the input"
    assert gamma.shape == input.shape[-gamma.dim():], (
        "gamma has the shape of the input's last axes"
    )
    assert gamma.dtype == input.dtype, "gamma has the input's dtype"
    # docstring, constraints. (aclnn takes strides and empty tensors.)
    assert input.is_contiguous(), "the input is contiguous"
    assert input.numel() > 0, "the input is not empty"


def golden(input, gamma, epsilon=1e-6):
    """Returns y (input's shape and dtype) and rstd (float32).

    Computed in float32 with one cast at the end (test). rstd keeps the
    normalised axes with size 1, and is float32 (meta and C++; the docstring
    says the input's dtype).
    """
    axes = tuple(range(-gamma.dim(), 0))
    x = input.float()
    rstd = 1.0 / torch.sqrt((x * x).mean(axes, keepdim=True) + epsilon)
    return (x * rstd * (gamma.float() + 1.0)).to(input.dtype), rstd
