"""npu_moe_token_unpermute_with_routing_map: experts' rows back at their tokens.

Sources, named in the comments below:
  docstring    torch_npu 2.13.0, _op_plugin_docs.py, entry
               npu_moe_token_unpermute_with_routing_map
  meta         torch_npu 2.13.0, op_plugin/meta/_meta_registrations.py
  derivatives  op-plugin, op_plugin/config/derivatives.yaml
  test         op-plugin, test/test_custom_ops/
               test_npu_moe_token_unpermute_with_routing_map.py
There is no page in op-plugin's docs.
"""
import torch

operator = "npu_moe_token_unpermute_with_routing_map"
schema = (
    "npu_moe_token_unpermute_with_routing_map(Tensor permuted_tokens, "
    "Tensor sorted_indices, int[] restore_shape, *, Tensor? probs=None, "
    "Tensor? routing_map=None, bool drop_and_pad=False) -> Tensor"
)
summary = "sums the experts' rows of each token, weighted by the chosen probs"
source = "torch_npu docstring: npu_moe_token_unpermute_with_routing_map"

# derivatives: through an internal operator, for permuted_tokens and probs.
autograd = "differentiable"
output_differentiability = (True,)

products = ("Atlas A2 training", "Atlas A3 training", "Ascend 950PR/950DT")
versions = "2.7.1, 2.13.0, 2.14.0"


def limits(permuted_tokens, sorted_indices, restore_shape, probs, routing_map,
           drop_and_pad):
    # docstring, parameter permuted_tokens.
    assert permuted_tokens.dtype in (torch.float16, torch.bfloat16, torch.float32), (
        "permuted_tokens is float16, bfloat16 or float32"
    )
    assert permuted_tokens.dim() == 2, "permuted_tokens has 2 axes"
    # docstring, parameter sorted_indices.
    assert sorted_indices.dtype == torch.int32, "sorted_indices is int32"
    assert sorted_indices.dim() == 1, "sorted_indices has 1 axis"
    # docstring, parameter restore_shape.
    assert len(restore_shape) == 2, "restore_shape has 2 values"
    assert restore_shape[1] == permuted_tokens.shape[1], (
        "restore_shape keeps the width of permuted_tokens"
    )
    # docstring, parameter probs.
    if probs is not None:
        assert probs.dtype == permuted_tokens.dtype or (
            probs.dtype == torch.float32 and permuted_tokens.dtype == torch.bfloat16
        ), "probs has permuted_tokens' dtype, or is float32 beside bfloat16"
        assert probs.dim() == 2, "probs has 2 axes"
        assert routing_map is not None, "probs needs routing_map"
    # docstring, parameter routing_map.
    if routing_map is not None:
        assert routing_map.dtype in (torch.int8, torch.bool), (
            "routing_map is int8 or bool"
        )
        assert routing_map.dim() == 2, "routing_map has 2 axes"
        assert routing_map.shape[0] == restore_shape[0], (
            "routing_map has a row for each token"
        )
    # docstring, constraints.
    assert drop_and_pad or sorted_indices.numel() <= 512 * restore_shape[0], (
        "a token has at most 512 experts"
    )


def golden(permuted_tokens, sorted_indices, restore_shape, probs=None,
           routing_map=None, drop_and_pad=False):
    """Returns restore_shape (tokens, hidden) in permuted_tokens' dtype.

    sorted_indices is what the permute gave: each copy's place, or, with
    drop_and_pad, each row's token (test). The sum is taken in float32.
    """
    count, width = restore_shape
    rows = permuted_tokens.float()
    index = sorted_indices.long()
    if drop_and_pad:
        if probs is not None:
            experts = probs.shape[1]
            expert = torch.arange(index.numel(), device=index.device)
            expert = expert // (index.numel() // experts)
            rows = rows * probs.float()[index, expert].unsqueeze(-1)
        y = rows.new_zeros(count, width).index_add(0, index, rows)
        return y.to(permuted_tokens.dtype)
    if (index < 0).any():
        raise RuntimeError("empty places (-1) in sorted_indices are not emulated")
    y = rows[index].view(count, -1, width)
    if probs is not None:
        chosen = probs.float().masked_select(routing_map.bool())
        y = y * chosen.view(count, -1, 1)
    return y.sum(1).to(permuted_tokens.dtype)
