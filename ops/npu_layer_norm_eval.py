"""npu_layer_norm_eval: layer normalisation without gradients.

Sources, named in the comments below:
  page         op-plugin, docs/zh/custom_APIs/torch_npu, the page
               "(beta) torch_npu-npu_layer_norm_eval.md"
  C++          op-plugin, op_plugin/ops/aclops/LayerNormEvalKernelNpu.cpp
  meta         torch_npu 2.13.0, op_plugin/meta/_meta_registrations.py
  derivatives  op-plugin, op_plugin/config/derivatives.yaml
"""
import torch

operator = "npu_layer_norm_eval"
schema = (
    "npu_layer_norm_eval(Tensor input, int[] normalized_shape, "
    "Tensor? weight=None, Tensor? bias=None, float eps=1e-05) -> Tensor"
)
summary = "layer normalisation without gradients"
source = "op-plugin docs: torch_npu-npu_layer_norm_eval.md"
removal = "use torch.nn.functional.layer_norm"  # page: planned for removal

# derivatives: no entry, and no fallback: gradients are lost with a warning,
# though the page says training.
autograd = "silent"
output_differentiability = (True,)

# page, table of products.
products = (
    "Atlas A3",
    "Atlas A2",
    "Atlas training series",
    "Atlas inference series",
)
versions = "2.1.0, 2.5.1, 2.7.1, 2.13.0, 2.14.0"


def limits(input, normalized_shape, weight, bias, eps):
    # page: no dtype is named; those of every other normalisation.
    assert input.dtype in (torch.float16, torch.bfloat16, torch.float32), (
        "the input is float16, bfloat16 or float32"
    )
    # page, parameter normalized_shape: the input's last axes.
    assert len(normalized_shape) >= 1, "at least one axis is normalised"
    assert len(normalized_shape) <= input.dim(), (
        "no more axes are normalised than there are"
    )
    assert tuple(normalized_shape) == input.shape[-len(normalized_shape):], (
        "normalized_shape is that of the input's last axes"
    )
    # page, parameters weight and bias. (C++ resizes others silently.)
    if weight is not None:
        assert weight.shape == tuple(normalized_shape), (
            "weight has the normalised shape"
        )
    if bias is not None:
        assert bias.shape == tuple(normalized_shape), "bias has the normalised shape"


def golden(input, normalized_shape, weight=None, bias=None, eps=1e-5):
    """Returns y: the input's shape and dtype.

    Internal precision is not documented; float32 with one cast is assumed.
    """
    axes = tuple(range(-len(normalized_shape), 0))
    x = input.float()
    centred = x - x.mean(axes, keepdim=True)
    y = centred / torch.sqrt((centred * centred).mean(axes, keepdim=True) + eps)
    if weight is not None:
        y = y * weight.float()
    if bias is not None:
        y = y + bias.float()
    return y.to(input.dtype)
