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
