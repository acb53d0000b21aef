"""Softmax attention with batch and heads in one axis: (batch * heads, length, width)."""
import torch
import torch.nn.functional as F

from npufuse.rule import rule, rand, torch_npu

rule(
    id="fusion_attention_folded",
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


def npu_drop_mask_folded(query, key, heads, bias=None, drop=None):
    """The masks as one boolean, True where a key is left out; None if there is none.

    query and key (batch * heads, length, width). A mask speaks of (batch, heads,
    query, key) where heads are told apart, else of (batch * heads, query, key);
    it may have fewer axes, or axes of length 1.
    """
    parts = [bias if bias is None else bias < 0, drop]
    mask = None
    for part in parts:
        if part is not None:
            part = part[:, None] if heads == 1 and part.dim() == 3 else part
            mask = part if mask is None else mask | part
    if mask is None:
        return None
    mask = mask.bool()[(None,) * (4 - mask.dim())]
    batch = mask.shape[0] if mask.shape[1] == 1 else query.shape[0] // heads
    return mask.expand(batch, mask.shape[1], query.shape[1], key.shape[1]).contiguous()


def reference(query, key, value, bias=None, drop=None, scale=1.0, heads=1, dropout: float = None):
    """query (b * n, q, d), key and value (b * n, k, d); heads: n, or 1.

    bias: added to the scores (b, n, q, k), 0 or very negative; drop: boolean,
    True where a score is left out; dropout: a probability.
    """
    length = query.shape[1]
    scores = torch.bmm(query, key.transpose(1, 2)) * scale
    scores = scores.view(-1, heads, length, key.shape[1])
    if bias is not None:
        scores = scores + bias
    if drop is not None:
        scores = scores.masked_fill(drop, float("-inf"))
    scores = scores.view(-1, length, key.shape[1])
    weights = F.softmax(scores, dim=-1)
    if dropout is not None:
        weights = F.dropout(weights, dropout)
    return torch.bmm(weights, value)


def replacement(query, key, value, bias=None, drop=None, scale=1.0, heads=1, dropout: float = None):
    # scale is always passed: the operator's default is 1. inner_precise=2: rows
    # without any visible key are allowed.
    return torch_npu.npu_fusion_attention(
        query.unflatten(0, (-1, heads)), key.unflatten(0, (-1, heads)),
        value.unflatten(0, (-1, heads)), heads, "BNSD",
        atten_mask=None if bias is None and drop is None
        else npu_drop_mask_folded(query, key, heads, bias, drop),
        scale=scale, keep_prob=1.0 if dropout is None else 1.0 - dropout, inner_precise=2,
    )[0].flatten(0, 1)


def requires(query, key, value, bias=None, drop=None, scale=1.0, heads=1, dropout: float = None):
    # Autocast casts what goes into a product; the operator casts nothing.
    assert query.dtype != torch.float32 or not torch.is_autocast_enabled(query.device.type), (
        "query is not float32 under autocast, where the original computes in half precision"
    )
    assert key.dtype == query.dtype, "key has query's dtype"
    assert value.dtype == query.dtype, "value has query's dtype"
    # Sizes by which the operator reads the axes.
    assert query.dim() == 3, "query has 3 axes"
    assert query.shape[-1] <= 768, "a head is at most 768 wide"
    assert value.shape[-1] <= key.shape[-1], "value's heads are no wider than key's"
    assert isinstance(scale, (int, float)), "the scale is a Python number"
    if bias is not None:
        assert npu_is_mask(bias), "what is added to the scores is a mask: 0 or very negative"


def sample():
    keys = torch.ones(2, 1, 6, 7, dtype=torch.bool)
    keys[0, :, :, 5:] = False
    keys[1, :, :, :1] = False
    return dict(
        query=rand(8, 6, 16), key=rand(8, 7, 16), value=rand(8, 7, 16),
        bias=torch.zeros(6, 7).masked_fill(torch.ones(6, 7).triu(3).bool(), -1e9),
        drop=~keys, scale=0.3, dropout=0.0, heads=4,
    )


def edges():
    one = torch.zeros(3, 1, 1, 9, dtype=torch.bool)
    one[1:, ..., 1] = True
    yield "one query", dict(
        query=rand(12, 1, 32), key=rand(12, 9, 32), value=rand(12, 9, 32),
        bias=torch.tensor([0.0] * 8 + [-1e9]), drop=one, scale=0.2, heads=4,
    )
    heads = torch.zeros(1, 6, 5, 7, dtype=torch.bool)
    heads[:, 1:, :, 2] = True
    yield "masks of heads", dict(
        query=rand(18, 5, 8), key=rand(18, 7, 8), value=rand(18, 7, 8),
        bias=torch.zeros(3, 1, 1, 7).index_fill(3, torch.tensor([4]), float("-inf")),
        drop=heads, heads=6,
    )
    wide = rand(6, 8, 16), rand(7, 8, 16), rand(7, 8, 16)
    query, key, value = (x.transpose(0, 1) for x in wide)
    yield "axes swapped", dict(query=query, key=key, value=value)
    yield "large values", dict(
        query=3 * rand(8, 6, 16), key=3 * rand(8, 7, 16), value=3 * rand(8, 7, 16),
    )
    yield "narrow values", dict(
        query=rand(8, 6, 24), key=rand(8, 7, 24), value=rand(8, 7, 16),
    )
    yield "odd sizes", dict(
        query=rand(8, 6, 7), key=rand(8, 7, 7), value=rand(8, 7, 7), scale=-0.6,
    )
