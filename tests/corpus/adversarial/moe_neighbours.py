"""Top k, groups of rows and sorted batches that have nothing to do with experts.

"allow": the operator computes just that, whatever it is called here.
"""
import torch
import torch.nn.functional as F
from torch import nn


def beam_search(logits, beams, vocab):
    probs = torch.softmax(logits, dim=-1)  # allow: moe caution
    scores, ids = torch.topk(probs, beams, dim=-1)
    return scores, ids


def top_k_sampling(model, ids, k):
    logits = model(ids)[:, -1]
    probs = F.softmax(logits, dim=-1)
    top, idx = torch.topk(probs, k, dim=-1)
    choice = torch.multinomial(top, 1)
    return torch.gather(idx, -1, choice)


def top_k_filter(logits, k):
    v, _ = torch.topk(logits, k)
    logits[logits < v[:, [-1]]] = -float("inf")
    return F.softmax(logits, dim=-1)


class TopKAttention(nn.Module):
    def __init__(self, d, k):
        super().__init__()
        self.q = nn.Linear(d, d)
        self.kk = nn.Linear(d, d)
        self.v = nn.Linear(d, d)
        self.k = k

    def forward(self, x):
        s = self.q(x) @ self.kk(x).transpose(-1, -2)
        val, idx = torch.topk(s, self.k, dim=-1)
        w = torch.softmax(val, dim=-1)
        v = self.v(x)
        return torch.einsum("bqk,bqkd->bqd", w, v[torch.arange(v.shape[0])[:, None, None], idx])


class MemoryRetrieve(nn.Module):
    def __init__(self, n, d, k):
        super().__init__()
        self.keys = nn.Parameter(torch.randn(n, d))
        self.values = nn.Embedding(n, d)
        self.k = k

    def forward(self, q):
        score = F.linear(q, self.keys)
        top, idx = score.topk(self.k, dim=-1)  # allow: moe caution
        w = torch.softmax(top, dim=-1)
        return (w.unsqueeze(-1) * self.values(idx)).sum(-2)


def nms_per_class(boxes, scores, labels, classes):
    keep = torch.zeros_like(scores)
    for c in range(classes):
        rows = torch.where(labels == c)[0]
        keep[rows] += scores[rows] * 2
    return keep


def detection_topk(head, feats, k):
    prob = head(feats).sigmoid()
    top, idx = torch.topk(prob.view(feats.shape[0], -1), k, dim=1)
    return top, idx // prob.shape[-1], idx % prob.shape[-1]


def histogram(values, bins, weights):
    out = torch.zeros(bins)
    for b in range(bins):
        rows = (values == b).nonzero(as_tuple=True)[0]
        out.index_add_(0, values[rows], weights[rows])
    return out


def graph_message(x, edges, types, lin):
    out = torch.zeros_like(x)
    for t in range(len(lin)):
        e = torch.where(types == t)[0]
        src, dst = edges[0, e], edges[1, e]
        out.index_add_(0, dst, lin[t](x[src]))
    return out


class RelationalConv(nn.Module):
    def __init__(self, r, d):
        super().__init__()
        self.w = nn.Parameter(torch.empty(r, d, d))

    def forward(self, x, src, dst, rel):
        out = torch.zeros_like(x)
        for r in range(self.w.shape[0]):
            m = rel == r
            out.index_add_(0, dst[m], x[src[m]] @ self.w[r])
        return out


class MultiLanguageHead(nn.Module):
    """One adapter for each language of a batch: a routing by data."""
    def __init__(self, d, langs):
        super().__init__()
        self.adapters = nn.ModuleList(nn.Linear(d, d) for _ in range(langs))

    def forward(self, x, lang):
        out = torch.zeros_like(x)
        for i, a in enumerate(self.adapters):  # allow: moe caution
            rows = torch.where(lang == i)[0]
            out[rows] += a(x[rows])
        return out


def segment_linear(x, sizes, layers):
    outs = []
    for i, layer in enumerate(layers):
        outs.append(layer(x[i * 4:(i + 1) * 4]))
    return torch.cat(outs)


class MultiScale(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.heads = nn.ModuleList(nn.Linear(d, d) for _ in range(3))

    def forward(self, feats):
        outs = []
        for i, f in enumerate(feats):
            outs.append(self.heads[i](f))
        return outs


class Layers(nn.Module):
    def __init__(self, d, n):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(d, d) for _ in range(n))

    def forward(self, x):
        states = []
        for layer in self.layers:
            x = layer(x)
            states.append(x)
        return torch.stack(states)


class ChunkedForward(nn.Module):
    """One module for all chunks."""
    def __init__(self, d):
        super().__init__()
        self.ff = nn.Linear(d, d)

    def forward(self, x, size):
        outs = []
        for s in range(0, x.shape[0], size):
            outs.append(self.ff(x[s:s + size]))
        return torch.cat(outs)


class MultiCodebook(nn.Module):
    def __init__(self, n, d, v):
        super().__init__()
        self.heads = nn.ModuleList(nn.Linear(d, v) for _ in range(n))

    def forward(self, x):
        parts = x.split(x.shape[-1] // len(self.heads), dim=-1)
        outs = []
        for i in range(len(self.heads)):
            outs.append(self.heads[i](parts[i]))
        return torch.stack(outs)


class Conv2dGroups(nn.Module):
    def __init__(self, n, d):
        super().__init__()
        self.convs = nn.ModuleList(nn.Conv1d(d, d, 3) for _ in range(n))

    def forward(self, x):
        out = []
        for i in range(len(self.convs)):
            out.append(self.convs[i](x[:, i * 4:(i + 1) * 4]))
        return torch.cat(out, 1)


def embedding_bag(table, tokens, offsets):
    out = torch.zeros(offsets.shape[0], table.shape[1])
    for i in range(offsets.shape[0]):
        rows = torch.where(offsets == i)[0]
        out[i] += table[tokens[rows]].mean(0)
    return out


def k_means_update(x, centers, index):
    new = torch.zeros_like(centers)
    for c in range(centers.shape[0]):
        rows = torch.where(index == c)[0]
        new[c] += x[rows].sum(0) / rows.numel()
    return new


def clip_rows(x, limits, kind):
    out = torch.zeros_like(x)
    for e in range(limits.shape[0]):
        rows = torch.where(kind == e)[0]
        out[rows] += x[rows].clamp(max=1.0)
    return out


def label_smoothing(logits, target, n, k):
    p = F.softmax(logits, -1)  # allow: moe caution
    best, idx = p.topk(k, dim=-1)
    hit = (idx == target[:, None]).float()
    return (best * hit).sum(-1)


def accuracy_topk(model, x, y):
    p = model(x).softmax(-1)
    conf, pred = p.topk(5, dim=-1)
    return (pred == y[:, None]).any(-1), conf[:, 0]


def sorted_scan(x, seg, y):
    order = seg.argsort()
    out = torch.zeros_like(x)
    out.index_add_(0, order, y)
    return out


def unsort(x, lengths, rnn):
    order = lengths.argsort(descending=True)
    y = rnn(x[order])
    out = torch.zeros_like(y)
    out.index_copy_(0, order, y)
    return out


def pack_and_restore(x, lengths, rnn):
    s, order = lengths.sort(descending=True)
    out = torch.zeros_like(x)
    out.scatter_add_(0, order.unsqueeze(-1).expand_as(x), rnn(x[order]))
    return out


def bucketed_loss(loss, bucket, n):
    tot = torch.zeros(n)
    for b in range(n):
        rows = torch.where(bucket == b)[0]
        tot[b] += loss[rows].sum()
    return tot


def pointer_scores(enc, dec, k):
    probs = F.softmax(dec.bmm(enc.transpose(1, 2)), dim=-1)
    v, i = probs.topk(k, dim=-1)
    return enc.gather(1, i.unsqueeze(-1).expand(-1, -1, enc.shape[-1])) * v.unsqueeze(-1)


class HeadPerLevel(nn.Module):
    """A head for each position of an axis: no rows are chosen."""

    def __init__(self, heads, d):
        super().__init__()
        self.heads = nn.ModuleList(nn.Linear(d, d) for _ in range(heads))

    def forward(self, x):
        out = torch.zeros_like(x)
        for i in range(len(self.heads)):
            out[:, i] = self.heads[i](x[:, i])
        return out

    def by_range(self, x, size):
        out = torch.zeros_like(x)
        for i in range(len(self.heads)):
            out[i * size:(i + 1) * size] = self.heads[i](x[i * size:(i + 1) * size])
        return out


class WithoutArguments(nn.Module):
    def __init__(self, width, count):
        super().__init__()
        self.experts = nn.ModuleList(nn.Linear(width, width) for _ in range(count))

    def forward(self):
        outputs = []
        for i in range(len(self.experts)):
            outputs.append(self.experts[i]())  # clean: a call that takes nothing
        return outputs


class Evaluation:
    """Each measure adds to its own total; all of them see everything."""

    def evaluate(self, loader):
        totals = [0.0 for _ in range(len(self.measures))]
        for batch in loader:
            for i in range(len(self.measures)):
                measure = self.measures[i][1]
                totals[i] += measure(batch["logits"], batch["labels"])  # clean: no rows are taken
        return totals


class AllThroughAll:
    def forward(self, x):
        out = torch.zeros(8, *x.shape)
        for e in range(8):
            out[e] += torch.relu(x @ self.first[e]) @ self.second[e]  # clean: no rows are taken
        return out


class BlocksOfLengths(torch.nn.Module):
    """Sequences in one row of tokens: every block has the same weights."""
    def __init__(self, d):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.empty(d, d))

    def forward(self, rows, lengths):
        done = []
        for block in torch.split(rows, lengths.tolist(), dim=0):
            done.append(torch.tanh(block @ self.weight))
        return torch.cat(done, dim=0)


class BlocksAndTheirNumber(torch.nn.Module):
    """The number of a block picks a bias, and no weights."""
    def __init__(self, d, n):
        super().__init__()
        self.shift = torch.nn.Parameter(torch.empty(n, d))

    def forward(self, rows, lengths):
        done = []
        for i, block in enumerate(torch.split(rows, lengths.tolist(), dim=0)):
            done.append(block * 2 + self.shift[i])
        return torch.cat(done, dim=0)
