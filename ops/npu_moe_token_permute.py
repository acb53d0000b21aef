"""npu_moe_token_permute: tokens repeated and sorted by their experts.

Sources, named in the comments below:
  docstring    torch_npu 2.13.0, _op_plugin_docs.py, entry npu_moe_token_permute
               (there are two; the later one holds)
  meta         torch_npu 2.13.0, op_plugin/meta/_meta_registrations.py
  derivatives  op-plugin, op_plugin/config/derivatives.yaml
  test         op-plugin, test/test_custom_ops/
               test_npu_moe_token_permute_and_unpermute.py
There is no page in op-plugin's docs.
"""
import torch

operator = "npu_moe_token_permute"
schema = (
    "npu_moe_token_permute(Tensor tokens, Tensor indices, "
    "int? num_out_tokens=None, bool padded_mode=False) -> (Tensor, Tensor)"
)
summary = "repeats each token for its experts and sorts the copies by expert"
source = "torch_npu docstring: npu_moe_token_permute"

autograd = "differentiable"  # derivatives: a formula for tokens
output_differentiability = (True, False)

# docstring. int8 tokens are for the last one only.
products = ("Atlas A2 training", "Atlas A3 training", "Ascend 950PR/950DT")
versions = "2.7.1, 2.13.0, 2.14.0"


def limits(tokens, indices, num_out_tokens, padded_mode):
    # docstring, parameter tokens.
    assert tokens.dtype in (torch.float16, torch.bfloat16, torch.float32), (
        "tokens is float16, bfloat16 or float32"
    )
    assert tokens.dim() == 2, "tokens has 2 axes"
    # docstring, parameter indices.
    assert indices.dtype in (torch.int32, torch.int64), "indices is int32 or int64"
    assert indices.dim() in (1, 2), "indices has 1 or 2 axes"
    assert indices.shape[0] == tokens.shape[0], "indices has a row for each token"
    assert indices.numel() < 16777215, "indices has fewer than 16777215 elements"
    # docstring: only False.
    assert not padded_mode, "padded_mode is not supported"


def golden(tokens, indices, num_out_tokens=None, padded_mode=False):
    """Returns the sorted copies and sorted_indices (int32, one for each copy).

    sorted_indices is the inverse of the sorting order: the place of each
    copy, permuted[sorted_indices[i]] == tokens[i // topk] (test).
    """
    topk = 1 if indices.dim() == 1 else indices.shape[1]
    order = torch.argsort(indices.flatten(), stable=True)
    permuted = tokens[order // topk]
    kept = num_out_tokens or None  # meta: 0 keeps all; below 0, from the end
    return permuted[:kept], torch.argsort(order).to(torch.int32)
