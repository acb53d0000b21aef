"""npu_rotary_mul: y = x * cos + rotate(x) * sin, rotary position embedding.

Sources, named in the comments below:
  page         op-plugin, docs/zh/custom_APIs/torch_npu, the page
               "torch_npu-npu_rotary_mul.md"
  C++          op-plugin, op_plugin/ops/opapi/RotaryMulKernelNpuOpApi.cpp
  meta         torch_npu 2.13.0, op_plugin/meta/_meta_registrations.py
  derivatives  op-plugin, op_plugin/config/derivatives.yaml
"""
import torch

operator = "npu_rotary_mul"
schema = (
    "npu_rotary_mul(Tensor input, Tensor r1, Tensor r2, "
    "str rotary_mode='half', Tensor? rotate=None) -> Tensor"
)
summary = "rotary position embedding: x * cos + rotate(x) * sin, over the whole last axis"
source = "op-plugin docs: torch_npu-npu_rotary_mul.md"

# derivatives: a formula for `self`, `r1` and `r2`, which knows rotary_mode and
# nothing of `rotate`: see limits(). Page: where cos or sin need a gradient,
# B * N is at most 1024.
autograd = "differentiable"
output_differentiability = (True,)

# page, table of products. limits() are those of the first two without
# jit_compile; with it, and on the others: 4 dimensions, a last axis of 128,
# rotary_mode "half".
products = (
    "Atlas A3 training",
    "Atlas A2 training",
    "Atlas training series (other limits)",
    "Atlas inference series (other limits)",
)
# 2.1.0 has no rotary_mode; 2.5.1 and 2.7.1 have no rotate.
versions = "2.1.0, 2.5.1, 2.7.1, 2.13.0, 2.14.0"


def limits(input, r1, r2, rotary_mode, rotate):
    # page, parameters: the three floating types. They may differ: C++ casts
    # r1 and r2 to the input's.
    assert input.dtype in (torch.float16, torch.bfloat16, torch.float32), (
        "the input is float16, bfloat16 or float32"
    )
    assert r1.dtype in (torch.float16, torch.bfloat16, torch.float32), (
        "cos is float16, bfloat16 or float32"
    )
    assert r2.dtype in (torch.float16, torch.bfloat16, torch.float32), (
        "sin is float16, bfloat16 or float32"
    )
    # page, constraints: BNSD, BSND, SBND or TND.
    assert input.dim() in (3, 4), "the input has 3 or 4 dimensions"
    assert r1.dim() == input.dim(), "cos has as many dimensions as the input"
    assert r2.shape == r1.shape, "sin has the shape of cos"
    assert r1.shape[-1] == input.shape[-1], "cos is as wide as the input"
    assert input.shape[-1] % 2 == 0, "the last axis has an even size"
    assert input.shape[-1] < 896, "the last axis is narrower than 896"
    # page, constraints: 11SD, B1SD or BNSD of BNSD; 1S1D, BS1D or BSND of
    # BSND; S11D, SB1D or SBND of SBND. So any axis may be 1, but 1NSD is none.
    assert r1.shape[0] in (1, input.shape[0]), "cos is broadcast to the input"
    assert r1.shape[1] in (1, input.shape[1]), "cos is broadcast to the input"
    assert r1.shape[2] in (1, input.shape[2]), "cos is broadcast to the input"
    assert r1.dim() == 3 or r1.shape[0] == input.shape[0] or (
        1 in (r1.shape[1], r1.shape[2])
    ), "cos that varies with the head varies with the batch"
    # page, constraints: T1D or TND of TND. (A test, which is skipped, has 11D.)
    assert r1.dim() == 4 or r1.shape[0] == input.shape[0], (
        "cos of 3 dimensions has a row for each token"
    )
    # page, constraints: B and N below 1000; cos is broadcast along these only.
    assert r1.shape[0] == input.shape[0] or input.shape[0] < 1000, (
        "an axis along which cos is broadcast is shorter than 1000"
    )
    assert r1.shape[1] == input.shape[1] or input.shape[1] < 1000, (
        "an axis along which cos is broadcast is shorter than 1000"
    )
    assert r1.shape[2] == input.shape[2] or input.shape[2] < 1000, (
        "an axis along which cos is broadcast is shorter than 1000"
    )
    # page, parameter rotary_mode; C++ checks it.
    assert rotary_mode in ("half", "interleave"), "rotary_mode is half or interleave"
    # page, interleave: 11SD, 1S1D, S11D and T1D only, B * N below 1000.
    assert rotary_mode != "interleave" or r1.numel() in (
        r1.shape[0] * r1.shape[-1],
        r1.shape[1] * r1.shape[-1],
        r1.shape[-2] * r1.shape[-1],
    ), "with interleave cos varies along one axis beside the last"
    assert rotary_mode != "interleave" or input.numel() < 1000 * r1.numel(), (
        "with interleave batch times heads is below 1000"
    )
    # page, parameter rotate: a matrix, in place of rotary_mode; no backward.
    if rotate is not None:
        assert rotate.dtype in (torch.float16, torch.bfloat16, torch.float32), (
            "rotate is float16, bfloat16 or float32"
        )
        assert rotate.dim() == 2, "rotate has 2 dimensions"
        assert rotate.shape[0] == input.shape[-1], "rotate is as wide as the input"
        assert rotate.shape[1] == input.shape[-1], "rotate is square"
        assert not input.requires_grad, (
            "the input needs no gradient where rotate is given"
        )


def golden(input, r1, r2, rotary_mode="half", rotate=None):
    """Returns y: the input's shape and dtype.

    cos and sin are rounded to the input's dtype first (C++). What follows is
    not documented; float32 with one cast is assumed.
    """
    x = input.float()
    cos, sin = r1.to(input.dtype).float(), r2.to(input.dtype).float()
    if rotate is not None:
        turned = torch.matmul(x, rotate.float())
    elif rotary_mode == "half":
        first, second = x.chunk(2, -1)
        turned = torch.cat((-second, first), -1)
    else:
        even, odd = x[..., ::2], x[..., 1::2]
        turned = torch.stack((-odd, even), -1).flatten(-2)
    return (x * cos + turned * sin).to(input.dtype)
