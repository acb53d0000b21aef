"""npu_apply_rotary_pos_emb: rotary position embedding of query and key, in place.

Sources, named in the comments below:
  docstring    torch_npu 2.13.0, _op_plugin_docs.py, entry npu_apply_rotary_pos_emb
  C++          op-plugin, op_plugin/ops/opapi/ApplyRotaryPosEmbNpuOpApi.cpp
  meta         torch_npu 2.13.0, op_plugin/meta/_meta_registrations.py
  fallback     op-plugin, op_plugin/ops/opapi/AutogradErrorFallback.cpp
  test         op-plugin, test/test_custom_ops/test_npu_apply_rotary_pos_emb.py
There is no page in op-plugin's docs.
"""
import torch

operator = "npu_apply_rotary_pos_emb"
# The documented prototype makes layout and rotary_mode keyword-only. Nothing
# here says that query and key are written over; docstring and C++ do.
schema = (
    "npu_apply_rotary_pos_emb(Tensor query, Tensor key, Tensor cos, Tensor sin, "
    "str layout='BSND', str rotary_mode='half') -> (Tensor, Tensor)"
)
summary = "rotary position embedding of query and key at once, written over them"
source = "torch_npu docstring: npu_apply_rotary_pos_emb"

autograd = "raises"  # fallback
output_differentiability = (True, True)

# docstring. limits() are those of the second and third.
products = (
    "Atlas 350 (other limits)",
    "Atlas A3",
    "Atlas A2",
    "Atlas inference series (no bfloat16)",
)
versions = "2.5.1, 2.7.1, 2.13.0, 2.14.0"

# C++: the results are query and key themselves, though the schema has no (a!).
roles = ("query: written", "key: written")


def limits(query, key, cos, sin, layout, rotary_mode):
    # docstring, parameters: the three floating types, one for all (constraint 3).
    assert query.dtype in (torch.float16, torch.bfloat16, torch.float32), (
        "query is float16, bfloat16 or float32"
    )
    assert key.dtype == query.dtype, "key has query's dtype"
    assert cos.dtype == query.dtype, "cos has query's dtype"
    assert sin.dtype == query.dtype, "sin has query's dtype"
    # docstring, parameter layout. (C++ takes any other word for BSND.)
    assert layout in ("BSND", "TND"), "layout is BSND or TND"
    assert query.dim() in (3, 4), "query has 3 or 4 dimensions"
    assert (query.dim() == 3) == (layout == "TND"), (
        "query has 3 dimensions as TND, and 4 as BSND"
    )
    assert query.numel() > 0, "query is not empty"
    assert key.numel() > 0, "key is not empty"
    # docstring, constraints 1, 2 and 4: all but the heads are equal.
    assert key.dim() == query.dim(), "key has as many dimensions as query"
    assert key.shape[:-2] == query.shape[:-2], "key has query's batch and length"
    assert key.shape[-1] == query.shape[-1], "key's heads are as wide as query's"
    assert query.shape[-1] in (64, 128), "a head is 64 or 128 wide"
    assert cos.dim() == query.dim(), "cos has as many dimensions as query"
    assert cos.shape[:-2] == query.shape[:-2], "cos has query's batch and length"
    assert cos.shape[-2] == 1, "cos has one head"
    # docstring: 64 or 128. (That it may differ from query's is not said.)
    assert cos.shape[-1] == query.shape[-1], "cos is as wide as a head"
    assert sin.shape == cos.shape, "sin has the shape of cos"
    # docstring, parameter rotary_mode.
    assert rotary_mode == "half", "rotary_mode is half"


def _turn(x, cos, sin):
    wide = x.float()
    first, second = wide.chunk(2, -1)
    y = wide * cos.float() + torch.cat((-second, first), -1) * sin.float()
    x.copy_(y.to(x.dtype))
    return x.view_as(x)


def golden(query, key, cos, sin, layout="BSND", rotary_mode="half"):
    """Returns query and key, written over.

    Internal precision is not documented; float32 with one cast is assumed.
    """
    return _turn(query, cos, sin), _turn(key, cos, sin)
