"""What looks like a router or a loop over experts and is none."""
import torch
import torch.nn.functional as F


def balance_loss(logits, k, n):
    probs = F.softmax(logits, dim=-1)
    _, chosen = torch.topk(probs, k, dim=-1)
    load = F.one_hot(chosen, n).float().mean(0)
    return (load * probs.mean(0)).sum()


def confidence(x, head, k):
    probs = torch.softmax(head(x), dim=-1)
    best, _ = probs.topk(k, dim=-1)
    return best.mean(-1)


def softmax_over_tokens(x, gate, k):
    probs = torch.softmax(x @ gate.t(), dim=0)
    best, index = torch.topk(probs, k, dim=0)
    return best / best.sum(0, keepdim=True), index


def bag_of_words(tokens, table, groups):
    out = torch.zeros(groups, table.shape[1])
    for g in range(groups):
        rows = (tokens == g).nonzero()[:, 0]
        out[g] = table[rows].sum(0)
    return out


def add_elsewhere(x, rows, other, w):
    out = torch.zeros_like(x)
    for e in range(w.shape[0]):
        taken = torch.where(rows == e)[0]
        out.index_add_(0, other[e], F.linear(x[taken], w[e]))
    return out


def scatter_mean(x, index, size):
    out = torch.zeros(size, x.shape[1])
    return out.index_add(0, index, x)


def same_weight_for_all(x, index, w, n):
    out = torch.zeros_like(x)
    for e in range(n):
        rows = torch.where(index == e)[0]
        out.index_add_(0, rows, x[rows] * 2.0)
    return out


def boxes(outputs, k):
    """The best of all pairs of a query and a class."""
    prob = outputs["logits"].sigmoid()
    best, index = torch.topk(prob.view(prob.shape[0], -1), k, dim=1)
    return best, index // prob.shape[2], index % prob.shape[2]


def drawn_word(logits, k):
    probs, words = F.softmax(logits, dim=-1).topk(k, dim=-1)
    return words.gather(-1, torch.multinomial(probs, 1))


def drawn_after_choice(logits, k):
    best, words = logits.topk(k, dim=-1)
    return words.gather(-1, torch.multinomial(F.softmax(best, dim=-1), 1))


def neighbours(query, keys):
    weights, index = torch.softmax(query @ keys.T, dim=-1).topk(4)
    return weights, index


def sigmoid_of_the_chosen(x, gate, k):
    best, index = torch.topk(F.linear(x, gate), k, dim=-1)
    return torch.sigmoid(best), index


def average_of_the_best(logits, k, n):
    """A balancing loss: the weights are averaged, and weigh no expert."""
    weights, chosen = torch.topk(logits, k, dim=-1)
    weights = weights.softmax(dim=-1)
    load = F.one_hot(chosen, n).float().mean(0)
    return (load * torch.mean(weights, dim=-1).unsqueeze(-1)).mean()


class Relative(torch.nn.Module):
    """Relative positions: both tables are read at the same distances, softmax between."""
    def __init__(self, n, d):
        super().__init__()
        self.k = torch.nn.Parameter(torch.zeros(n, d))
        self.v = torch.nn.Parameter(torch.zeros(n, d))

    def forward(self, q, distance):
        p = torch.softmax(torch.einsum("bid,ijd->bij", q, self.k[distance]), dim=-1)
        return torch.einsum("bij,ijd->bid", F.gelu(p), self.v[distance])


class TwoTables(torch.nn.Module):
    """Products with rows of two tables at different places are no experts."""
    def __init__(self, n, d):
        super().__init__()
        self.a = torch.nn.Parameter(torch.zeros(n, d, d))
        self.b = torch.nn.Parameter(torch.zeros(n, d, d))

    def forward(self, x, first, second):
        h = F.gelu(torch.einsum("ti,tio->to", x, self.a[first]))
        return torch.einsum("to,toi->ti", h, self.b[second])


class NumberOfAnother(torch.nn.Module):
    """The module is told the pass, the rows are the same in every pass."""
    def __init__(self, layer, n):
        super().__init__()
        self.layer, self.n = layer, n

    def forward(self, x, rows):
        out = torch.zeros_like(x)
        for step in range(self.n):
            out.index_add_(0, rows, self.layer(x[rows], step))
        return out


class OneDrawn(torch.nn.Module):
    """The likeliest words by max or topk: one of them is drawn."""
    def __init__(self, d, n, k):
        super().__init__()
        self.head, self.k = torch.nn.Linear(d, n), k

    def best(self, scores):
        if self.k == 1:
            scores, ids = scores.max(dim=-1, keepdim=True)
        else:
            scores, ids = scores.topk(self.k, dim=-1)
        return scores, ids

    def forward(self, x):
        values, ids = self.best(self.head(x))
        chances = torch.softmax(values, dim=-1)  # clean: a word is drawn
        return ids.gather(-1, torch.multinomial(chances, 1))


class LeastOrMore(torch.nn.Module):
    """The least in one branch, the best in the other."""
    def __init__(self, d, n, k):
        super().__init__()
        self.gate, self.k = torch.nn.Linear(d, n), k

    def forward(self, x):
        logits = self.gate(x)
        if self.k == 1:
            values, ids = logits.min(dim=-1, keepdim=True)
        else:
            values, ids = logits.topk(self.k, dim=-1)
        return torch.softmax(values, dim=-1), ids  # clean: the least of one
