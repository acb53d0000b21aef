"""Attention in plain PyTorch, as the fused operators of torch_npu do it.

What ``ops/npu_fusion_attention*.py`` and its relatives for inference share:
layouts, the masks of every ``sparse_mode``, the softmax. Shapes are named
B (batch), N (heads), S (sequence), D (head); Sq, Skv where the two differ.

Sources: op-plugin, docs/zh/custom_APIs/torch_npu, "torch_npu-npu_fusion_attention.md"
("page"), and op_plugin/ops/opapi/FlashAttentionKernelNpuOpApi.cpp ("C++").
"""
import torch

# A masked score is the least float32: a row that is masked as a whole then
# has equal weights, and no NaN.
LOWEST = torch.finfo(torch.float32).min


def to_heads(x, layout, heads):
    """A tensor of a dense `layout` as (B, N, S, D)."""
    if layout == "BNSD":
        return x
    if layout == "BSND":
        return x.transpose(1, 2)
    if layout == "SBH":
        x = x.transpose(0, 1)
    batch, length, width = x.shape
    return x.reshape(batch, length, heads, width // heads).transpose(1, 2)


def from_heads(x, layout):
    """(B, N, S, D) in a dense `layout`."""
    if layout == "BNSD":
        return x
    x = x.transpose(1, 2)
    if layout == "BSND":
        return x
    x = x.flatten(2)
    return x.transpose(0, 1) if layout == "SBH" else x


def kv_heads(query, key, layout, heads):
    """The head count of `key`: heads of one width in both."""
    axis = {"BNSD": 1, "BSND": 2, "TND": 1}.get(layout)
    if axis is not None:
        return key.shape[axis]
    return key.shape[2] * heads // query.shape[2]


def outside(rows, columns, before, after, shift, device=None):
    """True at (i, j) unless -before <= j - i - shift <= after: (Sq, Skv)."""
    i = torch.arange(rows, device=device).unsqueeze(1)
    distance = torch.arange(columns, device=device) - i - shift
    return (distance < -before) | (distance > after)


def require_compressed(mask, mode):
    """Raises RuntimeError unless `mask` is what a compressed mode asks for.

    page: the upper triangle above the diagonal of 2048 x 2048; for mode 6
    with 1024 rows below it, whose right half is True.
    """
    expected = torch.ones(2048, 2048, dtype=torch.bool, device=mask.device).triu(1)
    if mode == 6:
        below = torch.zeros(1024, 2048, dtype=torch.bool, device=mask.device)
        below[:, 1024:] = True
        expected = torch.cat([expected, below])
    if not torch.equal(mask.bool().reshape(mask.shape[-2:]), expected):
        text = (
            "with sparse_mode %d atten_mask is the compressed mask "
            "(torch.triu(torch.ones(2048, 2048), 1)), True where masked"
        )
        raise RuntimeError(text % mode)


def dense_mask(mask, mode, rows, columns, before, after, prefix=None):
    """What is masked, broadcastable to (B, N, Sq, Skv), or None.

    Without a mask nothing is masked, whatever the mode (page). `before`,
    `after` are pre_tockens, next_tockens; they matter to modes 0 and 4.
    """
    if mask is None:
        return None
    corner = columns - rows  # of the modes that count from the lower right
    device = mask.device
    if mode in (0, 1, 5):
        mask = mask.bool()
        # page: the band has to agree with the mask; the kernel visits the
        # blocks of the band alone.
        if mode == 0:
            mask = mask | outside(rows, columns, before, after, 0, device)
        return mask
    require_compressed(mask, mode)
    if mode == 2:
        return outside(rows, columns, rows + columns, 0, 0, device)
    if mode == 4:
        return outside(rows, columns, before, after, corner, device)
    causal = outside(rows, columns, rows + columns, 0, corner, device)
    if mode == 3:
        return causal
    reach = torch.tensor(list(prefix), device=device).view(-1, 1, 1, 1)
    return causal & (torch.arange(columns, device=device) >= reach)  # 6


def attend(query, key, value, mask=None, scale=1.0, pse=None, inner=True,
           sink=None, zero=False):
    """Softmax attention of (B, N, S, D) tensors, computed in float32.

    Returns the output (B, N, Sq, Dv) in float32 and the row maxima and sums
    (B, N, Sq). `pse` is added before the scale if `inner`, else after it.
    `sink` (N,): one more score per head, without a value. Rows masked as a
    whole are zero if `zero` (inner_precise 2), else the mean of the values.
    """
    group = query.shape[1] // key.shape[1]
    key = key.float().repeat_interleave(group, 1)
    value = value.float().repeat_interleave(group, 1)
    scores = query.float() @ key.transpose(-1, -2)
    if pse is not None and inner:
        scores = scores + pse.float()
    scores = scores * scale
    if pse is not None and not inner:
        scores = scores + pse.float()
    if mask is not None:
        scores = scores.masked_fill(mask, LOWEST)
    top = scores.amax(-1, keepdim=True)
    if sink is not None:
        column = sink.float().view(1, -1, 1, 1)
        top = torch.maximum(top, column)
    weights = torch.exp(scores - top)
    total = weights.sum(-1, keepdim=True)
    if sink is not None:
        total = total + torch.exp(column - top)
    if mask is not None and zero:
        weights = weights.masked_fill(mask.all(-1, keepdim=True), 0.0)
    return (weights @ value) / total, top.squeeze(-1), total.squeeze(-1)


def corrects_rows(mask, mode, rows, columns, inner_precise):
    """Whether rows that are masked as a whole are corrected (page,
    inner_precise): on demand, and of itself in mode 3 with Sq > Skv."""
    wanted = inner_precise in (2, 3) or (mode == 3 and rows > columns)
    return mask is not None and wanted


def lengths(cumulative):
    """(start, end) of each sequence; trailing zeros are sequences left out."""
    start, out = 0, []
    for end in cumulative:
        out.append((start, max(int(end), start)))
        start = out[-1][1]
    return out


def packed_mode(mode, index, count):
    """The mode of one sequence of a TND call.

    page: modes 7 and 8 are modes 3 and 2, with the last (the first) sequence
    a band, since its query was cut.
    """
    if mode == 7:
        return 4 if index == count - 1 else 3
    if mode == 8:
        return 4 if index == 0 else 2
    return mode


def packed(query, key, value, q_ends, kv_ends, part):
    """Attention of TND tensors, one sequence after the other.

    `part(index, count, q, k, v)` gets one sequence as (1, N, S, D) and gives
    what attend() returns. Returns the output (T, N, Dv) and the statistics
    (T, N); rows of no sequence are zero.
    """
    spans = list(zip(lengths(q_ends), lengths(kv_ends)))
    used = [n for n, ((a, b), _) in enumerate(spans) if b > a]
    count = used[-1] + 1 if used else 0
    outputs, tops, totals = [], [], []
    for n, ((a, b), (c, d)) in enumerate(spans[:count]):
        if b == a:
            continue
        sides = [x.transpose(0, 1).unsqueeze(0) for x in (query[a:b], key[c:d], value[c:d])]
        if d == c:
            shape = (b - a, query.shape[1])
            out = query.new_zeros(shape + value.shape[2:], dtype=torch.float32)
            top = total = query.new_zeros(shape, dtype=torch.float32)
        else:
            out, top, total = (y[0].transpose(0, 1) for y in part(n, count, *sides))
        outputs.append(out)
        tops.append(top)
        totals.append(total)
    rest = query.shape[0] - sum(len(y) for y in outputs)
    outputs.append(query.new_zeros(rest, query.shape[1], value.shape[2], dtype=torch.float32))
    tops.append(query.new_zeros(rest, query.shape[1], dtype=torch.float32))
    totals.append(tops[-1])
    return torch.cat(outputs), torch.cat(tops), torch.cat(totals)


def fusion_attention(query, key, value, heads, layout, options):
    """The forward of npu_fusion_attention and its later forms.

    `options`: a dict with pse, inner, atten_mask, scale, before, after,
    inner_precise, prefix, q_ends, kv_ends, mode, sink. Returns the output in
    `layout` and query's dtype, softmax_max and softmax_sum (float32, the last
    axis eight equal values; (B, N, Sq, 8), or (T, N, 8) of TND).
    """
    o = options

    def one(q, k, v, mask, mode, prefix, pse):
        rows, columns = q.shape[2], k.shape[2]
        hidden = dense_mask(mask, mode, rows, columns, o["before"], o["after"], prefix)
        zero = corrects_rows(mask, mode, rows, columns, o["inner_precise"])
        return attend(q, k, v, hidden, o["scale"], pse, o["inner"], o["sink"], zero)

    def part(n, count, q, k, v):
        mode, mask = packed_mode(o["mode"], n, count), o["atten_mask"]
        if mask is not None and mode in (0, 1):
            mask = mask[..., : q.shape[2], : k.shape[2]]
        prefix = None if o["prefix"] is None else o["prefix"][n : n + 1]
        return one(q, k, v, mask, mode, prefix, None)

    if layout == "TND":
        out, top, total = packed(query, key, value, o["q_ends"], o["kv_ends"], part)
    else:
        few = kv_heads(query, key, layout, heads)
        q = to_heads(query, layout, heads)
        k, v = to_heads(key, layout, few), to_heads(value, layout, few)
        out, top, total = one(q, k, v, o["atten_mask"], o["mode"], o["prefix"], o["pse"])
        out = from_heads(out, layout)
    eight = [y.unsqueeze(-1).expand(*y.shape, 8) for y in (top, total)]
    return (out.to(query.dtype), *eight)


# ---- inference: lengths of each sequence, more layouts, no gradient ---------


def effective(lengths_given, batch, whole):
    """The length of each sequence; one for all, or the first of many."""
    if lengths_given is None:
        return [whole] * batch
    given = [int(n) for n in lengths_given]
    return given * batch if len(given) == 1 else given[:batch]


def spread_mask(mask, batch, rows, compressed):
    """A mask of inference as (1 or B, 1, Sq, Skv); a compressed one flat."""
    if mask is None or compressed:
        return None if mask is None else mask.reshape(mask.shape[-2:])
    if mask.dim() == 2 and rows == 1 and mask.shape[0] == batch:
        return mask.view(batch, 1, 1, -1)
    if mask.dim() == 2:
        return mask.view(1, 1, *mask.shape)
    return mask.unsqueeze(1) if mask.dim() == 3 else mask


def infer_one(q, k, v, mask, o):
    """One sequence, (1, N, S, D) each, as attend() gives it."""
    rows, columns = q.shape[2], k.shape[2]
    mode = o["mode"]
    if mode in (0, 1) and mask is not None:
        mask = mask[..., :rows, :columns]
    hidden = dense_mask(mask, mode, rows, columns, o["before"], o["after"])
    zero = corrects_rows(mask, mode, rows, columns, o["inner_precise"])
    return attend(q, k, v, hidden, o["scale"], sink=o["sink"], zero=zero)


def infer_dense(q, k, v, o):
    """(B, N, S, D): output, log of the sum of exponentials (B, N, Sq)."""
    batch, rows = q.shape[0], q.shape[2]
    if rows == 1 and o["mode"] > 1 and not o["rope"]:
        # page: the mode has no effect on one row; what a compressed mask
        # then means is not said, the last row of a causal one sees all.
        o = dict(o, mode=0, mask=None, before=rows, after=k.shape[2])
    if rows == 1:
        o = dict(o, before=k.shape[2], after=k.shape[2])
    mask = spread_mask(o["mask"], batch, rows, o["mode"] > 1)
    out = q.new_zeros(*q.shape[:3], v.shape[3], dtype=torch.float32)
    lse = q.new_zeros(q.shape[:3], dtype=torch.float32)
    q_lengths = [rows] * batch if rows == 1 else effective(o["q_ends"], batch, rows)
    kv_lengths = effective(o["kv_ends"], batch, k.shape[2])
    for b, (m, n) in enumerate(zip(q_lengths, kv_lengths)):
        if m == 0 or n == 0:
            continue
        one = mask if mask is None or mask.dim() == 2 else mask[b % mask.shape[0]][None]
        sides = (q[b : b + 1, :, :m], k[b : b + 1, :, :n], v[b : b + 1, :, :n])
        y, top, total = infer_one(*sides, one, o)
        out[b, :, :m], lse[b, :, :m] = y[0], (top + total.log())[0]
    return out, lse


def with_rope(x, rope):
    return x if rope is None else torch.cat([x, rope], -1)


def infer_attention(query, key, value, heads, kv, layout, o):
    """The forward of the attention operators for inference.

    `kv`: key's head count, 0 for `heads`. `layout`: of the inputs, or of
    inputs and output ("BNSD_BSND"). `o`: a dict with mask, mode, before,
    after, scale, q_ends, kv_ends, inner_precise, sink, query_rope, key_rope.
    Returns the output (query's dtype) and the log of the sums of exponentials
    (float32; (B, N, Sq, 1), or (T, N, 1) of packed sequences).
    """
    inside, _, after = layout.partition("_")
    kv = kv or heads
    o = dict(o, rope=o["query_rope"] is not None)
    if inside in ("TND", "NTD"):
        out, lse = infer_packed(query, key, value, inside, o)
        packed_out = after or inside
        return (out if packed_out == "TND" else out.transpose(0, 1)).to(query.dtype), lse
    if inside == "NSD":
        query, key, value = (x.unsqueeze(0) for x in (query, key, value))
    place = "BNSD" if inside == "NSD" else inside

    def split(x, count):
        return None if x is None else to_heads(x, place, count)

    q = with_rope(split(query, heads), split(o["query_rope"], heads))
    k = with_rope(split(key, kv), split(o["key_rope"], kv))
    out, lse = infer_dense(q, k, split(value, kv), o)
    after = after or inside
    if after == "NSD":
        out = out[0]
    else:
        out = out.transpose(0, 1) if after == "NBSD" else from_heads(out, after)
    return out.to(query.dtype), lse.unsqueeze(-1)


def infer_packed(query, key, value, inside, o):
    """TND and NTD: the output as TND in float32."""
    sides = [with_rope(query, o["query_rope"]), with_rope(key, o["key_rope"]), value]
    if inside == "NTD":
        sides = [x.transpose(0, 1) for x in sides]
    mask = o["mask"]
    if mask is not None and o["mode"] > 1:
        mask = mask.reshape(mask.shape[-2:])

    def part(n, count, q, k, v):
        return infer_one(q, k, v, mask, o)

    out, top, total = packed(*sides, o["q_ends"], o["kv_ends"], part)
    return out, (top + total.clamp(min=1e-38).log()).unsqueeze(-1)
