"""Rotary position embedding as a product of complex numbers."""
import torch

from npufuse.rule import rule, rand, ranked, torch_npu

rule(
    id="rope_complex",
    family="rope",
    operator="npu_rotary_mul",
    priority="medium",
    gain="a product of complex numbers, which the NPU emulates, becomes one kernel",
    part="x",
    risks=(
        "both tables are made of the complex one at each call: build them where that is made",
        "the documented range of the tables is -1 to 1: an attention factor (YaRN, "
        "longrope) can leave it",
        "the input is kept for the backward pass: memory can rise",
    ),
)


def reference(x, freqs, start=3, *, counted=False, halves=False):
    """x (..., d); freqs (..., d // 2), complex. counted: the last axes are joined
    from one counted from the front; halves: a number is made of the two halves,
    not of neighbours."""
    if halves:
        a, b = x.float().chunk(2, dim=-1)
        turned = torch.complex(a, b) * freqs
        if counted:
            return torch.view_as_real(turned).transpose(-2, -1).flatten(start)
        return torch.cat([turned.real, turned.imag], dim=-1)
    pairs = torch.view_as_complex(x.float().unflatten(-1, (-1, 2)))
    turned = torch.view_as_real(pairs * freqs)
    if counted:
        return turned.flatten(start)
    return turned.flatten(-2)


def replacement(x, freqs, start=3, *, counted=False, halves=False):
    if halves:
        wide_cos = torch.cat([freqs.real, freqs.real], dim=-1)
        wide_sin = torch.cat([freqs.imag, freqs.imag], dim=-1)
        return torch_npu.npu_rotary_mul(
            x.float(), ranked(wide_cos, x, freqs), ranked(wide_sin, x, freqs)
        )
    cos = freqs.real.repeat_interleave(2, dim=-1)
    sin = freqs.imag.repeat_interleave(2, dim=-1)
    return torch_npu.npu_rotary_mul(
        x.float(), ranked(cos, x, freqs), ranked(sin, x, freqs), rotary_mode="interleave"
    )


def requires(x, freqs, start=3, *, counted=False, halves=False):
    # limits() speaks of the tables; this of the complex numbers they are made of.
    assert freqs.dtype == torch.complex64, "the factors are complex numbers of single precision"
    assert x.dim() in (3, 4), "the input has 3 or 4 dimensions"
    assert ranked(freqs, x).dim() == x.dim(), "cos has as many dimensions as the input"
    assert freqs.shape[-1] * 2 == x.shape[-1], "one factor a pair"
    assert all(c in (1, n) for c, n in zip(freqs.shape[-2::-1], x.shape[-2::-1])), (
        "cos is broadcast to the input"
    )
    assert freqs.dim() < 3 or 1 in freqs.shape[-3:-1] or freqs.shape[:-3] == x.shape[:-3], (
        "cos that varies with the head varies with the batch"
    )
    assert x.dim() == 4 or freqs.shape[:-2] == x.shape[:-2], (
        "cos of 3 dimensions has a row for each token"
    )
    assert all(c == n or n < 1000 for c, n in zip(ranked(freqs, x).shape[:-1], x.shape)), (
        "an axis along which cos is broadcast is shorter than 1000"
    )
    if halves:
        # The operator's page: of this layout (B, N, S, D) slower than separate kernels.
        assert 1 in freqs.shape[-2:-1] or x.shape[-1] % 8 == 0, (
            "rows of whole 32 bytes where the heads stand before the sequence"
        )
    if not halves:
        # The operator's limits of this mode.
        assert freqs.numel() == max((1, *freqs.shape[:-1])) * freqs.shape[-1], (
            "with interleave cos varies along one axis beside the last"
        )
        assert x.numel() < 2000 * freqs.numel(), (
            "with interleave batch times heads is below 1000"
        )
    if counted:
        assert x.dim() == start + 1, "the pairs are the last two axes"


def sample():
    return dict(
        x=rand(2, 3, 8, 16), freqs=torch.polar(torch.ones(1, 1, 8, 8), rand(1, 1, 8, 8)),
        start=3,
    )
