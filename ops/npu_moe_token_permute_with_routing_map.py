"""npu_moe_token_permute_with_routing_map: tokens sorted by a 0/1 map.

Sources, named in the comments below:
  docstring    torch_npu 2.13.0, _op_plugin_docs.py, entry
               npu_moe_token_permute_with_routing_map (the later of two)
  meta         torch_npu 2.13.0, op_plugin/meta/_meta_registrations.py
  derivatives  op-plugin, op_plugin/config/derivatives.yaml
  test         op-plugin, test/test_custom_ops/
               test_npu_moe_token_permute_with_routing_map.py
There is no page in op-plugin's docs.
"""
import torch

operator = "npu_moe_token_permute_with_routing_map"
schema = (
    "npu_moe_token_permute_with_routing_map(Tensor tokens, Tensor routing_map, "
    "*, Tensor? probs=None, int? num_out_tokens=None, bool drop_and_pad=False) "
    "-> (Tensor, Tensor, Tensor)"
)
summary = "tokens of each expert one after the other, by a map of tokens to experts"
source = "torch_npu docstring: npu_moe_token_permute_with_routing_map"

autograd = "differentiable"  # derivatives: formulas for tokens and probs
output_differentiability = (True, True, False)

products = ()  # the docstring names none
versions = "2.7.1, 2.13.0, 2.14.0"


def limits(tokens, routing_map, probs, num_out_tokens, drop_and_pad):
    # docstring, parameter tokens.
    assert tokens.dtype in (torch.float16, torch.bfloat16, torch.float32), (
        "tokens is float16, bfloat16 or float32"
    )
    assert tokens.dim() == 2, "tokens has 2 axes"
    # docstring, parameter routing_map.
    assert routing_map.dtype in (torch.int8, torch.bool), "routing_map is int8 or bool"
    assert routing_map.dim() == 2, "routing_map has 2 axes"
    assert routing_map.shape[0] == tokens.shape[0], (
        "routing_map has a row for each token"
    )
    # docstring, parameter probs.
    if probs is not None:
        assert probs.dtype == tokens.dtype or (
            probs.dtype == torch.float32 and tokens.dtype == torch.bfloat16
        ), "probs has tokens' dtype, or is float32 beside bfloat16 tokens"
        assert probs.numel() == routing_map.numel(), "probs has routing_map's shape"
    # docstring, constraints 3 and 4.
    assert tokens.shape[0] < 16777215, "there are fewer than 16777215 tokens"
    assert routing_map.shape[1] < 16777215, "there are fewer than 16777215 experts"
    if num_out_tokens is not None:
        assert num_out_tokens >= 0, "num_out_tokens is not negative"
        assert num_out_tokens <= tokens.shape[0] * routing_map.shape[1], (
            "num_out_tokens is at most tokens times experts"
        )
        assert drop_and_pad or num_out_tokens < 512 * tokens.shape[0], (
            "a token has fewer than 512 experts"
        )


def golden(tokens, routing_map, probs=None, num_out_tokens=None, drop_and_pad=False):
    """Returns the copies by expert, their probs (None without probs) and
    sorted_indices (int32).

    num_out_tokens=None means the number of tokens: one expert each (meta).
    drop_and_pad: the first num_out_tokens // experts tokens of each expert,
    filled up with others; sorted_indices is then each copy's token (test).
    """
    count, experts = routing_map.shape
    total = tokens.shape[0] if num_out_tokens is None else num_out_tokens
    by_expert = routing_map.bool().t()
    if drop_and_pad:
        order = torch.sort(by_expert.to(torch.int8), dim=-1, descending=True, stable=True)[1]
        expert = torch.arange(experts, device=tokens.device).unsqueeze(1)
        taken = order[:, : total // experts]
        expert, token = expert.expand_as(taken).flatten(), taken.flatten()
        indices = token
    else:
        expert, token = by_expert.nonzero(as_tuple=True)
        if token.numel() != total // count * count:
            raise RuntimeError(
                "num_out_tokens // tokens is not the number of experts of each token"
            )
        indices = torch.argsort(token, stable=True)
    picked = None if probs is None else probs.view(count, experts)[token, expert]
    return tokens[token], picked, indices.to(torch.int32)
