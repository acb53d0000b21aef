"""npu_ffn: two matrix products with an activation between.

Sources, named in the comments below:
  page  op-plugin, docs/zh/custom_APIs/torch_npu, the page
        "torch_npu-npu_ffn.md"
  meta  torch_npu 2.13.0, op_plugin/meta/_meta_registrations.py
  C++   op-plugin, op_plugin/ops/opapi/FFNKernelNpuOpApi.cpp
"""
import torch

from npufuse import groups

operator = "npu_ffn"
schema = (
    "npu_ffn(Tensor x, Tensor weight1, Tensor weight2, str activation, *, "
    "int[]? expert_tokens=None, int[]? expert_tokens_index=None, "
    "Tensor? bias1=None, Tensor? bias2=None, Tensor? scale=None, "
    "Tensor? offset=None, Tensor? deq_scale1=None, Tensor? deq_scale2=None, "
    "Tensor? antiquant_scale1=None, Tensor? antiquant_scale2=None, "
    "Tensor? antiquant_offset1=None, Tensor? antiquant_offset2=None, "
    "int? inner_precise=None, ScalarType? output_dtype=None) -> Tensor"
)
summary = "linear, activation, linear, for inference; weights are K x N"
source = "op-plugin docs: torch_npu-npu_ffn.md"

# No derivative and no fallback is registered: gradients are dropped.
autograd = "silent"
output_differentiability = (True,)

products = ("Atlas A3", "Atlas A2")  # page
versions = "2.5.1, 2.7.1, 2.13.0, 2.14.0"


def limits(x, weight1, weight2, activation, expert_tokens, expert_tokens_index,
           bias1, bias2, scale, offset, deq_scale1, deq_scale2, antiquant_scale1,
           antiquant_scale2, antiquant_offset1, antiquant_offset2, inner_precise,
           output_dtype):
    # page, parameters x, weight1, weight2.
    assert x.dtype in (torch.float16, torch.bfloat16, torch.int8), (
        "x is float16, bfloat16 or int8"
    )
    assert x.dim() >= 2, "x has at least 2 axes"
    assert x.dim() <= 8, "x has at most 8 axes"
    assert weight1.dtype in (x.dtype, torch.int8), "weight1 has x's dtype, or is int8"
    assert weight2.dtype == weight1.dtype, "weight2 has weight1's dtype"
    assert weight1.dim() in (2, 3), "weight1 has 2 axes, or 3 with experts"
    assert weight2.dim() == weight1.dim(), "weight2 has as many axes as weight1"
    # C++: K x N, the transpose of nn.Linear.weight.
    assert x.shape[-1] == weight1.shape[-2], (
        "weight1's last axis but one is x's last (K x N, not N x K)"
    )
    # page, constraints.
    assert weight2.shape[-1] == x.shape[-1], "weight2's last axis is x's last"
    assert x.shape[-1] < 65536, "x's last axis is less than 65536"
    assert weight2.shape[-2] < 65536, "weight2's last axis but one is less than 65536"
    assert activation in (
        "fastgelu", "gelu", "relu", "silu", "geglu", "swiglu", "reglu"
    ), "activation is fastgelu, gelu, relu, silu, geglu, swiglu or reglu"
    assert activation not in ("fastgelu", "gelu", "relu", "silu") or (
        weight1.shape[-1] == weight2.shape[-2]
    ), "weight1's last axis is weight2's last but one"
    assert activation not in ("geglu", "swiglu", "reglu") or (
        weight1.shape[-1] == 2 * weight2.shape[-2]
    ), "weight1's last axis is twice weight2's last but one"
    assert activation not in ("geglu", "swiglu", "reglu") or x.dtype == torch.float16, (
        "geglu, swiglu and reglu are for float16"
    )
    assert activation not in ("geglu", "swiglu", "reglu") or weight1.dim() == 2, (
        "geglu, swiglu and reglu take no experts"
    )
    # C++.
    assert expert_tokens is None or expert_tokens_index is None, (
        "expert_tokens and expert_tokens_index are not given together"
    )
    assert weight1.dim() == 2 or not (
        expert_tokens is None and expert_tokens_index is None
    ), "experts need expert_tokens or expert_tokens_index"
    if expert_tokens is not None:
        assert len(expert_tokens) <= 256, "there are at most 256 experts"
    if expert_tokens_index is not None:
        assert len(expert_tokens_index) <= 256, "there are at most 256 experts"
    # page, parameters bias1 and bias2: float16, float32 or int32.
    if bias1 is not None:
        assert bias1.dtype in (torch.float16, torch.float32, torch.int32), (
            "bias1 is float16, float32 or int32"
        )
    if bias2 is not None:
        assert bias2.dtype in (torch.float16, torch.float32, torch.int32), (
            "bias2 is float16, float32 or int32"
        )
    # page, parameter inner_precise.
    assert inner_precise in (None, 0, 1), "inner_precise is 0 or 1"
    assert x.dtype != torch.bfloat16 or weight1.dtype != torch.bfloat16 or (
        inner_precise in (None, 0)
    ), "inner_precise is 0 for bfloat16"


def golden(x, weight1, weight2, activation, expert_tokens=None,
           expert_tokens_index=None, bias1=None, bias2=None, scale=None,
           offset=None, deq_scale1=None, deq_scale2=None, antiquant_scale1=None,
           antiquant_scale2=None, antiquant_offset1=None, antiquant_offset2=None,
           inner_precise=None, output_dtype=None):
    """Returns x's shape with weight2's last axis, in x's dtype.

    Computed in float32, the activated values rounded to x's dtype once, and
    the result. Which half geglu, swiglu and reglu activate is not documented:
    they and quantised weights are not emulated.
    """
    assert x.dtype != torch.int8 and weight1.dtype == x.dtype, (
        "npu_ffn: quantised tensors are not emulated"
    )
    assert activation in FUNCTIONS, "npu_ffn: %s is not emulated" % activation
    rows = x.flatten(0, -2).float()
    if weight1.dim() == 2:
        y = layer(rows, weight1, bias1, weight2, bias2, activation, x.dtype)
        return y.to(x.dtype).view(*x.shape[:-1], -1)
    kind = 1 if expert_tokens is not None else 0
    spans = groups.group_spans(expert_tokens or expert_tokens_index, kind, len(weight1))
    parts = []
    for e, a, b in spans:
        biases = [None if t is None else t[e] for t in (bias1, bias2)]
        part = (rows[a:b], weight1[e], biases[0], weight2[e], biases[1])
        parts.append(layer(*part, activation, x.dtype))
    return torch.cat(parts).to(x.dtype).view(*x.shape[:-1], -1)


FUNCTIONS = {
    "fastgelu": lambda y: y * torch.sigmoid(1.702 * y),
    "gelu": lambda y: 0.5 * y * (1.0 + torch.erf(y * 0.7071067811865476)),
    "relu": lambda y: torch.relu(y),
    "silu": lambda y: y * torch.sigmoid(y),
}


def layer(rows, weight1, bias1, weight2, bias2, activation, dtype):
    y = rows @ weight1.float()
    y = FUNCTIONS[activation](y if bias1 is None else y + bias1.float())
    y = y.to(dtype).float() @ weight2.float()
    return y if bias2 is None else y + bias2.float()
