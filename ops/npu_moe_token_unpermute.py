"""npu_moe_token_unpermute: experts' results back at their tokens, weighted.

Sources, named in the comments below:
  docstring    torch_npu 2.13.0, _op_plugin_docs.py, entry
               npu_moe_token_unpermute (there are two; the later one holds)
  meta         torch_npu 2.13.0, op_plugin/meta/_meta_registrations.py
  derivatives  op-plugin, op_plugin/config/derivatives.yaml
There is no page in op-plugin's docs.
"""
import torch

operator = "npu_moe_token_unpermute"
schema = (
    "npu_moe_token_unpermute(Tensor permuted_tokens, Tensor sorted_indices, "
    "Tensor? probs=None, bool padded_mode=False, int[]? restore_shape=None) "
    "-> Tensor"
)
summary = "gathers the experts' rows of each token, weights and sums them"
source = "torch_npu docstring: npu_moe_token_unpermute"

# derivatives: through _npu_moe_token_unpermute, for permuted_tokens and probs.
autograd = "differentiable"
output_differentiability = (True,)

products = ("Atlas A2 training", "Atlas A3 training", "Ascend 950PR/950DT")
versions = "2.7.1, 2.13.0, 2.14.0"


def limits(permuted_tokens, sorted_indices, probs, padded_mode, restore_shape):
    # docstring, parameter permuted_tokens; meta.
    assert permuted_tokens.dtype in (torch.float16, torch.bfloat16, torch.float32), (
        "permuted_tokens is float16, bfloat16 or float32"
    )
    assert permuted_tokens.dim() == 2, "permuted_tokens has 2 axes"
    # docstring, parameter sorted_indices.
    assert sorted_indices.dtype == torch.int32, "sorted_indices is int32"
    assert sorted_indices.dim() == 1, "sorted_indices has 1 axis"
    # docstring, parameter probs.
    if probs is not None:
        assert probs.dtype in (torch.float16, torch.bfloat16, torch.float32), (
            "probs is float16, bfloat16 or float32"
        )
        assert probs.dim() == 2, "probs has 2 axes"
        # docstring, constraints, A2 and A3.
        assert probs.shape[1] <= 512, "a token has at most 512 experts"
        assert probs.numel() == sorted_indices.numel(), (
            "probs has a value for each index"
        )
    # docstring, constraints.
    assert not padded_mode, "padded_mode is not supported"
    assert restore_shape is None, "restore_shape is not supported"


def golden(permuted_tokens, sorted_indices, probs=None, padded_mode=False,
           restore_shape=None):
    """Returns (tokens, hidden) in permuted_tokens' dtype.

    Without probs each token has one row: nothing is summed (docstring).
    Places that were cut off by num_out_tokens count as zero. The sum is
    taken in float32 with one cast at the end.
    """
    topk = 1 if probs is None else probs.shape[1]
    rows = sorted_indices.long()
    inside = (rows < permuted_tokens.shape[0]).unsqueeze(-1)
    rows = rows.clamp(max=permuted_tokens.shape[0] - 1)
    y = permuted_tokens.float()[rows] * inside
    y = y.view(-1, topk, permuted_tokens.shape[1])
    if probs is not None:
        y = y * probs.float().unsqueeze(-1)
    return y.sum(1).to(permuted_tokens.dtype)
