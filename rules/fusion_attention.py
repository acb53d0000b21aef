"""Softmax attention with the heads before the sequence: (batch, heads, length, width)."""
import torch
import torch.nn.functional as F

from npufuse.rule import rule, rand, torch_npu

rule(
    id="fusion_attention",
    family="attention",
    operator="npu_fusion_attention",
    constants=("bias",),
    eager_only="npu_fusion_attention does not take part in graph mode",
    priority="high",
    gain="the scores are never written to memory; products, scale, mask, softmax and "
         "dropout become one kernel, backward another",
    risks_of=(
        "bias, drop: mask polarity: the operator leaves out where its mask is True, the "
        "opposite of scaled_dot_product_attention",
        "bias, drop: a row without any visible key is zero; the original averages over all "
        "keys where it fills with a finite number",
        "bias: an added mask is tested once for its values: one synchronisation a mask",
        "dropout: dropout draws other weights than the original's generator",
    ),
)


def npu_is_mask(mask):
    """Whether what is added to scores only leaves keys out: 0 or very negative.

    A learned or computed bias has other values. The answer is kept with the
    tensor until it changes.
    """
    if mask is None:
        return True
    if mask.requires_grad or not mask.is_floating_point():
        return False
    version = 0 if mask.is_inference() else mask._version
    known = getattr(mask, "_npu_is_mask", None)
    if known is None or known[0] != version:
        known = version, bool(((mask == 0) | (mask <= -9000.0)).all())
        mask._npu_is_mask = known
    return known[1]


def npu_drop_mask(query, key, bias=None, drop=None):
    """The masks as one boolean, True where a key is left out; None if there is none.

    query and key (batch, heads, length, width). A mask may have fewer axes, or
    axes of length 1: the operator does not broadcast that of the queries.
    """
    mask = drop
    if bias is not None:
        mask = bias < 0 if mask is None else mask | (bias < 0)
    if mask is None:
        return None
    mask = mask.bool()[(None,) * (4 - mask.dim())]
    batch = mask.shape[0] if mask.shape[1] == 1 else query.shape[0]
    return mask.expand(batch, mask.shape[1], query.shape[2], key.shape[2]).contiguous()


def reference(query, key, value, bias=None, drop=None, scale=1.0, times=1, dropout: float = None):
    """query (b, n, q, d), key and value (b, m, k, d): n is m * times.

    bias: added to the scores, 0 or very negative; drop: boolean, True where a
    score is left out; dropout: a probability.
    """
    key = key.repeat_interleave(times, 1)
    value = value.repeat_interleave(times, 1)
    scores = torch.matmul(query, key.transpose(-2, -1)) * scale
    if bias is not None:
        scores = scores + bias
    if drop is not None:
        scores = scores.masked_fill(drop, float("-inf"))
    weights = F.softmax(scores, dim=-1)
    if dropout is not None:
        weights = F.dropout(weights, dropout)
    return torch.matmul(weights, value)


def replacement(query, key, value, bias=None, drop=None, scale=1.0, times=1, dropout: float = None):
    # scale is always passed: the operator's default is 1. inner_precise=2: rows
    # without any visible key are allowed.
    return torch_npu.npu_fusion_attention(
        query, key, value, query.shape[1], "BNSD",
        atten_mask=None if bias is None and drop is None else npu_drop_mask(query, key, bias, drop),
        scale=scale, keep_prob=1.0 if dropout is None else 1.0 - dropout, inner_precise=2,
    )[0]


def requires(query, key, value, bias=None, drop=None, scale=1.0, times=1, dropout: float = None):
    # Autocast casts what goes into a product; the operator casts nothing.
    assert query.dtype != torch.float32 or not torch.is_autocast_enabled(query.device.type), (
        "query is not float32 under autocast, where the original computes in half precision"
    )
    # Sizes by which the operator reads the axes.
    assert query.dim() == 4, "query has 4 axes"
    assert query.shape[-1] <= 768, "a head is at most 768 wide"
    assert query.shape[1] <= 256, "there are at most 256 heads"
    assert isinstance(scale, (int, float)), "the scale is a Python number"
    assert times == 1 or query.shape[1] == key.shape[1] * times, (
        "each head of key and value serves as many heads of query as it was repeated"
    )
    if bias is not None:
        assert npu_is_mask(bias), "what is added to the scores is a mask: 0 or very negative"


def sample():
    keys = torch.ones(2, 1, 6, 8, dtype=torch.bool)
    keys[0, :, :, 6:] = False
    keys[1, :, :, :1] = False
    return dict(
        query=rand(2, 4, 6, 16), key=rand(2, 2, 8, 16), value=rand(2, 2, 8, 16),
        bias=torch.zeros(6, 8).masked_fill(torch.ones(6, 8).triu(3).bool(), -1e9),
        drop=~keys, scale=0.3, dropout=0.0, times=2,
    )


def edges():
    one = torch.zeros(3, 1, 1, 9, dtype=torch.bool)
    one[1:, ..., 1] = True
    yield "one query", dict(
        query=rand(3, 4, 1, 32), key=rand(3, 1, 9, 32), value=rand(3, 1, 9, 32),
        bias=torch.tensor([0.0] * 8 + [-1e9]), drop=one, scale=0.2, times=4,
    )
    heads = torch.zeros(1, 6, 5, 7, dtype=torch.bool)
    heads[:, 1:, :, 2] = True
    yield "masks of heads", dict(
        query=rand(3, 6, 5, 8), key=rand(3, 3, 7, 8), value=rand(3, 3, 7, 8),
        bias=torch.zeros(3, 1, 1, 7).index_fill(3, torch.tensor([4]), float("-inf")),
        drop=heads,
    )
    wide = rand(2, 6, 4, 16), rand(2, 8, 2, 16), rand(2, 8, 2, 16)
    query, key, value = (x.transpose(1, 2) for x in wide)
    yield "axes swapped", dict(query=query, key=key, value=value)
    yield "large values", dict(
        query=3 * rand(2, 4, 6, 16), key=3 * rand(2, 2, 8, 16),
        value=3 * rand(2, 2, 8, 16),
    )
    yield "narrow values", dict(
        query=rand(2, 3, 6, 24), key=rand(2, 3, 8, 24), value=rand(2, 3, 8, 16),
        times=1,
    )
    yield "odd sizes", dict(
        query=rand(2, 5, 6, 7), key=rand(2, 1, 8, 7), value=rand(2, 1, 8, 7), scale=-0.6,
        times=5,
    )
