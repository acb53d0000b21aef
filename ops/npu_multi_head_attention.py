"""npu_multi_head_attention: projections and attention of a whole layer.

Sources, named in the comments below:
  page         op-plugin, docs/zh/custom_APIs/torch_npu, the page
               "(beta) torch_npu-npu_multi_head_attention.md"
  meta         torch_npu 2.13.0, op_plugin/meta/_meta_registrations.py
  derivatives  op-plugin, op_plugin/config/derivatives.yaml
"""
import torch

operator = "npu_multi_head_attention"
schema = (
    "npu_multi_head_attention(Tensor query, Tensor key, Tensor value, "
    "Tensor query_weight, Tensor key_weight, Tensor value_weight, "
    "Tensor attn_mask, Tensor out_proj_weight, Tensor? query_bias, "
    "Tensor? key_bias, Tensor? value_bias, Tensor? out_proj_bias, "
    "Tensor? dropout_mask, int attn_head_num, int attn_dim_per_head, "
    "int src_len, int tgt_len, float dropout_prob, bool softmax_use_float) "
    "-> (Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor)"
)
summary = "a whole layer of multi-head attention, with its projections"
source = "op-plugin docs: torch_npu-npu_multi_head_attention.md"

autograd = "differentiable"  # derivatives: the tensors but mask and dropout
output_differentiability = (True, False, False, False, False, False, False, False)

products = (
    "Atlas A3 training", "Atlas A2 training", "Atlas inference series",
    "Atlas training series",
)  # page
versions = "2.1.0, 2.5.1, 2.7.1, 2.13.0, 2.14.0"
removal = "use torch.nn.functional.scaled_dot_product_attention"


def limits(query, key, value, query_weight, key_weight, value_weight, attn_mask,
           out_proj_weight, query_bias, key_bias, value_bias, out_proj_bias,
           dropout_mask, attn_head_num, attn_dim_per_head, src_len, tgt_len,
           dropout_prob, softmax_use_float):
    # page: every tensor is float16.
    assert query.dtype == torch.float16, "query is float16"
    assert key.dtype == torch.float16, "key is float16"
    assert value.dtype == torch.float16, "value is float16"
    assert query_weight.dtype == torch.float16, "query_weight is float16"
    assert key_weight.dtype == torch.float16, "key_weight is float16"
    assert value_weight.dtype == torch.float16, "value_weight is float16"
    assert attn_mask.dtype == torch.float16, "attn_mask is float16"
    assert out_proj_weight.dtype == torch.float16, "out_proj_weight is float16"
    if query_bias is not None:
        assert query_bias.dtype == torch.float16, "query_bias is float16"
    if key_bias is not None:
        assert key_bias.dtype == torch.float16, "key_bias is float16"
    if value_bias is not None:
        assert value_bias.dtype == torch.float16, "value_bias is float16"
    if out_proj_bias is not None:
        assert out_proj_bias.dtype == torch.float16, "out_proj_bias is float16"
    # page, constraints.
    assert attn_head_num % 16 == 0, "attn_head_num is a multiple of 16"
    assert attn_dim_per_head % 16 == 0, "attn_dim_per_head is a multiple of 16"
    assert src_len % 16 == 0, "src_len is a multiple of 16"
    assert tgt_len % 16 == 0, "tgt_len is a multiple of 16"
    # meta: (batch * tgt_len, width).
    assert query.shape[0] % tgt_len == 0, "query has tgt_len rows for each sequence"
