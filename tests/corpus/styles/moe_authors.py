"""Experts and routers as other authors write them.

What has no comment is not found: the best one by max or argmax (every classifier
asks for it), softmax over scores that were scattered into -inf, slices of rows
that nobody sorted in sight.
"""
import torch
import torch.nn.functional as F
from torch import nn


class DeepSeekInfer(nn.Module):
    """Sorted by expert, one slice of tokens for each (moe_infer)."""
    def __init__(self, experts, n):
        super().__init__()
        self.experts = nn.ModuleList(experts)
        self.n = n

    @torch.no_grad()
    def forward(self, x, topk_ids, topk_weight):
        cnts = topk_ids.new_zeros((topk_ids.shape[0], len(self.experts)))
        cnts.scatter_(1, topk_ids, 1)
        tokens_per_expert = cnts.sum(dim=0)
        idxs = topk_ids.view(-1).argsort()
        sorted_tokens = x[idxs // topk_ids.shape[1]]
        tokens_per_expert = tokens_per_expert.cpu().numpy()
        outputs = []
        start_idx = 0
        for i, num_tokens in enumerate(tokens_per_expert):  # expect: moe caution
            end_idx = start_idx + num_tokens
            if num_tokens == 0:
                continue
            expert = self.experts[i]
            tokens_for_this_expert = sorted_tokens[start_idx:end_idx]
            expert_out = expert(tokens_for_this_expert)
            outputs.append(expert_out)
            start_idx = end_idx
        outs = torch.cat(outputs, dim=0) if len(outputs) else sorted_tokens.new_empty(0)
        new_x = torch.empty_like(outs)
        new_x[idxs] = outs
        return (new_x.view(*topk_ids.shape, -1).type(topk_weight.dtype)
                .mul_(topk_weight.unsqueeze(dim=-1)).sum(dim=1).type(new_x.dtype))


class DeepSeekV1Infer(nn.Module):
    def __init__(self, experts, k):
        super().__init__()
        self.experts = nn.ModuleList(experts)
        self.k = k

    def forward(self, x, flat_indices, flat_weights):
        cache = torch.zeros_like(x)
        idxs = flat_indices.argsort()
        per_expert = flat_indices.bincount().cpu().numpy().cumsum(0)
        token_idxs = idxs // self.k
        for i, end in enumerate(per_expert):  # expect: moe caution
            start = 0 if i == 0 else per_expert[i - 1]
            if start == end:
                continue
            expert = self.experts[i]
            tok = token_idxs[start:end]
            out = expert(x[tok])
            out.mul_(flat_weights[idxs[start:end]])
            cache.scatter_reduce_(0, tok.view(-1, 1).repeat(1, x.shape[-1]), out, reduce='sum')
        return cache


class DeepSeekTrain(nn.Module):
    def __init__(self, experts, k):
        super().__init__()
        self.experts = nn.ModuleList(experts)
        self.k = k

    def forward(self, x, topk_idx, topk_weight):
        orig = x.shape
        x = x.view(-1, x.shape[-1])
        flat = topk_idx.view(-1)
        x = x.repeat_interleave(self.k, dim=0)
        y = torch.empty_like(x)
        for i, expert in enumerate(self.experts):  # expect: moe caution
            y[flat == i] = expert(x[flat == i])
        y = (y.view(*topk_weight.shape, -1) * topk_weight.unsqueeze(-1)).sum(dim=1)
        return y.view(*orig)


class MixtralOriginal(nn.Module):
    def __init__(self, experts, gate, k):
        super().__init__()
        self.experts = nn.ModuleList(experts)
        self.gate = gate
        self.k = k

    def forward(self, inputs):
        gate_logits = self.gate(inputs)
        weights, selected = torch.topk(gate_logits, self.k)  # expect: moe caution
        weights = F.softmax(weights, dim=1, dtype=torch.float).to(inputs.dtype)
        results = torch.zeros_like(inputs)
        for i, expert in enumerate(self.experts):  # expect: moe caution
            batch_idx, nth = torch.where(selected == i)
            results[batch_idx] += weights[batch_idx, nth, None] * expert(inputs[batch_idx])
        return results


class MixtralHF(nn.Module):
    def __init__(self, h, n, k, experts):
        super().__init__()
        self.gate = nn.Linear(h, n, bias=False)
        self.experts = nn.ModuleList(experts)
        self.num_experts, self.top_k = n, k

    def forward(self, hidden_states):
        b, s, h = hidden_states.shape
        hidden_states = hidden_states.view(-1, h)
        router_logits = self.gate(hidden_states)
        routing_weights = F.softmax(router_logits, dim=1, dtype=torch.float)  # expect: moe caution
        routing_weights, selected_experts = torch.topk(routing_weights, self.top_k, dim=-1)
        routing_weights /= routing_weights.sum(dim=-1, keepdim=True)
        routing_weights = routing_weights.to(hidden_states.dtype)
        final = torch.zeros((b * s, h), dtype=hidden_states.dtype, device=hidden_states.device)
        expert_mask = F.one_hot(selected_experts, num_classes=self.num_experts).permute(2, 1, 0)
        for expert_idx in range(self.num_experts):  # expect: moe caution
            layer = self.experts[expert_idx]
            idx, top_x = torch.where(expert_mask[expert_idx])
            current = hidden_states[None, top_x].reshape(-1, h)
            current = layer(current) * routing_weights[top_x, idx, None]
            final.index_add_(0, top_x, current.to(hidden_states.dtype))
        return final.reshape(b, s, h), router_logits


class MixtralOldHF(nn.Module):
    def __init__(self, n, experts):
        super().__init__()
        self.experts = nn.ModuleList(experts)
        self.num_experts = n

    def forward(self, hidden_states, routing_weights, selected):
        final = torch.zeros_like(hidden_states)
        mask = F.one_hot(selected, num_classes=self.num_experts).permute(2, 1, 0)
        for e in range(self.num_experts):  # expect: moe caution
            idx, top_x = torch.where(mask[e])
            if top_x.shape[0] == 0:
                continue
            top_x_list = top_x.tolist()
            idx_list = idx.tolist()
            cur = hidden_states[None, top_x_list].reshape(-1, hidden_states.shape[-1])
            cur = self.experts[e](cur) * routing_weights[top_x_list, idx_list, None]
            final.index_add_(0, top_x, cur.to(hidden_states.dtype))
        return final


class SwitchRouter(nn.Module):
    def __init__(self, d, n):
        super().__init__()
        self.classifier = nn.Linear(d, n, bias=False)
        self.n = n

    def forward(self, x):
        logits = self.classifier(x)
        probs = F.softmax(logits, dim=-1)
        index = torch.argmax(probs, dim=-1)
        onehot = F.one_hot(index, num_classes=self.n)
        best = torch.max(probs, dim=-1).values.unsqueeze(-1)
        return onehot, best, logits


class SwitchDispatch(nn.Module):
    def __init__(self, experts):
        super().__init__()
        self.experts = nn.ModuleDict(experts)

    def forward(self, x, router_mask, probs):
        nxt = torch.zeros_like(x)
        hit = torch.any(router_mask.bool(), dim=1).nonzero(as_tuple=True)[0]
        for idx in range(len(self.experts)):  # expect: moe caution
            token = router_mask[:, :, idx].bool()
            nxt[token] = self.experts["expert_%d" % idx](x[token]).to(nxt.dtype)
        return probs * nxt


class NanoMoe(nn.Module):
    """nanoMoE router with capacity and noise."""
    def __init__(self, d, n, k):
        super().__init__()
        self.w_g = nn.Linear(d, n, bias=False)
        self.w_noise = nn.Linear(d, n, bias=False)
        self.k, self.n = k, n

    def forward(self, x):
        logits = self.w_g(x)
        noise = F.softplus(self.w_noise(x))
        noise = noise * torch.randn_like(noise)
        logits = logits + noise
        top_logits, top_idx = logits.topk(self.k, dim=-1)
        probs = torch.full_like(logits, float('-inf'))
        probs.scatter_(-1, top_idx, top_logits)
        probs = F.softmax(probs, dim=-1)
        return probs, top_idx


class MakeMoe(nn.Module):
    def __init__(self, d, n, k, experts):
        super().__init__()
        self.route = nn.Linear(d, n)
        self.experts = nn.ModuleList(experts)
        self.k = k

    def forward(self, x):
        logits = self.route(x)
        top, ids = logits.topk(self.k, dim=-1)  # expect: moe caution
        sparse = torch.full_like(logits, float('-inf')).scatter(-1, ids, top)
        gating = F.softmax(sparse, dim=-1)
        final = torch.zeros_like(x)
        flat_x = x.view(-1, x.size(-1))
        flat_g = gating.view(-1, gating.size(-1))
        for i, expert in enumerate(self.experts):  # expect: moe caution
            mask = (ids == i).any(dim=-1)
            flat_mask = mask.view(-1)
            if flat_mask.any():
                inp = flat_x[flat_mask]
                out = expert(inp)
                scores = flat_g[flat_mask, i].unsqueeze(1)
                final[mask] += (out * scores).squeeze(1)
        return final


class ExpertChoice(nn.Module):
    def __init__(self, d, n, cap):
        super().__init__()
        self.gate = nn.Linear(d, n, bias=False)
        self.w1 = nn.Parameter(torch.empty(n, d, 4 * d))
        self.w2 = nn.Parameter(torch.empty(n, 4 * d, d))
        self.cap = cap

    def forward(self, x):
        scores = F.softmax(self.gate(x), dim=-1)
        weights, index = torch.topk(scores.t(), self.cap, dim=-1)
        out = torch.zeros_like(x)
        for e in range(self.w1.shape[0]):  # expect: moe caution
            rows = index[e]
            y = F.relu(x[rows] @ self.w1[e]) @ self.w2[e]
            out.index_add_(0, rows, y * weights[e].unsqueeze(-1))
        return out


def gshard_top2(logits, capacity):
    gates = F.softmax(logits, dim=1)
    n = gates.shape[1]
    i1 = torch.argmax(gates, dim=1)
    m1 = F.one_hot(i1, num_classes=n)
    noisy = logits + torch.distributions.gumbel.Gumbel(0.0, 1.0).rsample(logits.shape)
    i2 = torch.argmax(noisy.masked_fill(m1.bool(), float("-inf")), dim=1)
    m2 = F.one_hot(i2, num_classes=n)
    g1 = (gates * m1).sum(dim=1)
    g2 = (gates * m2).sum(dim=1)
    denom = (g1 + g2).clamp(min=1e-9)
    return g1 / denom, g2 / denom, i1, i2


def dispatch_einsum(x, dispatch, combine, experts):
    xs = torch.einsum("sec,sm->ecm", dispatch, x)
    ys = torch.cat([expert(chunk) for expert, chunk in zip(experts, xs.chunk(len(experts)))])
    return torch.einsum("sec,ecm->sm", combine, ys)


class Olmoe(nn.Module):
    def __init__(self, h, n, k, norm, experts):
        super().__init__()
        self.gate = nn.Linear(h, n, bias=False)
        self.experts = nn.ModuleList(experts)
        self.num_experts, self.top_k, self.norm_topk_prob = n, k, norm

    def forward(self, hidden):
        logits = self.gate(hidden)
        w = F.softmax(logits, dim=1, dtype=torch.float)  # expect: moe caution
        w, sel = torch.topk(w, self.top_k, dim=-1)
        if self.norm_topk_prob:
            w /= w.sum(dim=-1, keepdim=True)
        w = w.to(hidden.dtype)
        out = torch.zeros_like(hidden)
        mask = F.one_hot(sel, num_classes=self.num_experts).permute(2, 1, 0)
        for e in range(self.num_experts):  # expect: moe caution
            idx, top_x = torch.where(mask[e])
            cur = self.experts[e](hidden[None, top_x].reshape(-1, hidden.shape[-1])) * w[top_x, idx, None]
            out.index_add_(0, top_x, cur.to(hidden.dtype))
        return out


class DbrxGlu(nn.Module):
    def __init__(self, h, f, n):
        super().__init__()
        self.h, self.f, self.n = h, f, n
        self.w1 = nn.Parameter(torch.empty(n * f, h))
        self.v1 = nn.Parameter(torch.empty(n * f, h))
        self.w2 = nn.Parameter(torch.empty(n * f, h))

    def forward(self, x, weights, top_weights, top_experts):
        out = torch.zeros_like(x)
        mask = F.one_hot(top_experts, num_classes=self.n).permute(2, 1, 0)
        w1 = self.w1.view(self.n, self.f, self.h).chunk(self.n, dim=0)
        v1 = self.v1.view(self.n, self.f, self.h).chunk(self.n, dim=0)
        w2 = self.w2.view(self.n, self.f, self.h).chunk(self.n, dim=0)
        w1 = [w.squeeze(dim=0) for w in w1]
        v1 = [w.squeeze(dim=0) for w in v1]
        w2 = [w.squeeze(dim=0) for w in w2]
        for e in range(self.n):  # expect: moe caution
            topk_idx, token_idx = torch.where(mask[e])
            if token_idx.shape[0] == 0:
                continue
            tokens = x[None, token_idx].reshape(-1, self.h)
            gate = F.silu(tokens @ w1[e].t())  # expect: swiglu recommend
            up = tokens @ v1[e].t()
            y = (gate * up) @ w2[e]
            out.index_add_(0, token_idx, y * top_weights[token_idx, topk_idx, None])
        return out


class DbrxRouter(nn.Module):
    def __init__(self, h, n, k, p):
        super().__init__()
        self.layer = nn.Linear(h, n, bias=False)
        self.k, self.p = k, p

    def forward(self, x):
        weights = self.layer(x).softmax(dim=-1, dtype=torch.float32)  # expect: moe caution
        top_w, top_e = torch.topk(weights, self.k, dim=-1)
        scale = torch.norm(top_w, p=self.p, dim=-1, keepdim=True) if self.p is not None else 1.0
        return weights, (top_w / scale).to(x.dtype), top_e


class JetMoeGate(nn.Module):
    def __init__(self, d, n, k):
        super().__init__()
        self.layer = nn.Linear(d, n, bias=False)
        self.k, self.n = k, n

    def forward(self, x):
        logits = self.layer(x).float()
        top_logits, top_indices = logits.topk(self.k, dim=1)  # expect: moe caution
        gates = torch.softmax(top_logits, dim=1).type_as(x)
        zeros = torch.zeros([top_logits.size(0), self.n], dtype=gates.dtype)
        hits = zeros.scatter(1, top_indices, 1)
        expert_size = hits.long().sum(0).tolist()
        flat = top_indices.flatten()
        _, index_sorted = flat.sort(0)  # allow: affinity caution
        batch_index = index_sorted.div(self.k, rounding_mode="trunc")
        batch_gates = gates.flatten()[index_sorted]
        return index_sorted, batch_index, batch_gates, expert_size


class JetMoeParallel(nn.Module):
    def __init__(self, n, i, o):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(n, o, i))
        self.n = n

    def forward(self, inputs, expert_size):
        parts = inputs.split(expert_size, dim=0)
        outs = []
        for i in range(self.n):  # expect: moe caution
            outs.append(F.linear(parts[i], self.weight[i]))
        return torch.cat(outs, dim=0)


class JetMoe(nn.Module):
    def forward(self, x, out_, batch_index, batch_gates):
        y = out_ * batch_gates[:, None]
        zeros = torch.zeros((x.shape[0], x.shape[1]), dtype=y.dtype, device=y.device)
        return zeros.index_add(0, batch_index, y)


class Ungrouped(nn.Module):
    """Sort, then one call, then put back."""
    def forward(self, x, ids, w, ffn):
        order = ids.view(-1).argsort()
        rows = order // ids.shape[-1]
        y = ffn(x[rows]) * w.view(-1)[order].unsqueeze(-1)
        out = torch.zeros_like(x)
        out.index_add_(0, rows, y)  # expect: moe caution
        return out


class DeepSeekV3Gate(nn.Module):
    def __init__(self, n, d, g, tg, k, s):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(n, d))
        self.bias = nn.Parameter(torch.empty(n))
        self.g, self.tg, self.k, self.s = g, tg, k, s

    def forward(self, x):
        scores = F.linear(x, self.weight)
        scores = scores.sigmoid()  # expect: moe caution
        original = scores
        scores = scores + self.bias
        scores = scores.view(x.size(0), self.g, -1)
        group_scores = scores.topk(2, dim=-1)[0].sum(dim=-1)
        indices = group_scores.topk(self.tg, dim=-1)[1]
        mask = scores.new_ones(x.size(0), self.g, dtype=bool).scatter_(1, indices, False)
        scores = scores.masked_fill_(mask.unsqueeze(-1), float("-inf")).flatten(1)
        indices = torch.topk(scores, self.k, dim=-1)[1]
        weights = original.gather(1, indices)
        weights = weights / weights.sum(dim=-1, keepdim=True)
        return weights * self.s, indices


class DeepSeekV3Loop(nn.Module):
    def __init__(self, experts, lo, hi, n):
        super().__init__()
        self.experts = nn.ModuleList(experts)
        self.lo, self.hi, self.n = lo, hi, n

    def forward(self, x, weights, indices):
        y = torch.zeros_like(x)
        counts = torch.bincount(indices.flatten(), minlength=self.n).tolist()
        for i in range(self.lo, self.hi):  # expect: moe caution
            if counts[i] == 0:
                continue
            expert = self.experts[i]
            idx, top = torch.where(indices == i)
            y[idx] += expert(x[idx]) * weights[idx, top, None]
        return y


class Tutel(nn.Module):
    """fixed capacity buffer, a python loop over local experts."""
    def __init__(self, experts):
        super().__init__()
        self.experts = nn.ModuleList(experts)

    def forward(self, buf):
        chunks = buf.chunk(len(self.experts), dim=0)
        outs = []
        for chunk, expert in zip(chunks, self.experts):
            outs.append(expert(chunk))
        return torch.cat(outs, dim=0)


def megatron_sequential(experts, permuted, counts):
    outs = []
    start = 0
    for e, n in zip(experts, counts.tolist()):
        outs.append(e(permuted[start:start + n]))
        start += n
    return torch.cat(outs, dim=0)


def megatron_split(experts, permuted, counts):
    parts = torch.split(permuted, counts.tolist())
    outs = []
    for e, part in zip(experts, parts):  # expect: moe caution
        outs.append(e(part))
    return torch.cat(outs)


class Gptoss(nn.Module):
    def __init__(self, n, h, f):
        super().__init__()
        self.gate_up = nn.Parameter(torch.empty(n, h, 2 * f))
        self.gate_up_b = nn.Parameter(torch.empty(n, 2 * f))
        self.down = nn.Parameter(torch.empty(n, f, h))
        self.down_b = nn.Parameter(torch.empty(n, h))
        self.n = n

    def forward(self, x, idx, w):
        nxt = torch.zeros_like(x)
        with torch.no_grad():
            mask = F.one_hot(idx, num_classes=self.n).permute(2, 1, 0)
            hit = torch.greater(mask.sum(dim=(-1, -2)), 0).nonzero()
        for e in hit[:]:  # expect: moe caution
            e = e[0]
            with torch.no_grad():
                _, tok = torch.where(mask[e])
            gu = x[tok] @ self.gate_up[e] + self.gate_up_b[e]
            gate, up = gu[..., ::2], gu[..., 1::2]
            glu = gate * torch.sigmoid(gate * 1.702)  # expect: quick_gelu recommend
            out = ((up + 1) * glu) @ self.down[e] + self.down_b[e]
            nxt.index_add_(0, tok, (out * w[tok, e, None]).to(x.dtype))
        return nxt


class GptossRouter(nn.Module):
    def __init__(self, n, h, k):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(n, h))
        self.bias = nn.Parameter(torch.empty(n))
        self.k = k

    def forward(self, x):
        logits = F.linear(x, self.weight, self.bias)
        val, idx = torch.topk(logits, self.k, dim=-1)  # expect: moe caution
        val = F.softmax(val, dim=1, dtype=val.dtype)
        return torch.zeros_like(logits).scatter_(1, idx, val), idx


class Grok(nn.Module):
    def __init__(self, h, n, k, cap):
        super().__init__()
        self.gate = nn.Linear(h, n, bias=False)
        self.k, self.cap = k, cap

    def forward(self, x):
        logits = self.gate(x)
        logits = self.cap * torch.tanh(logits / self.cap)
        probs = F.softmax(logits, dim=-1)  # expect: moe caution
        return torch.topk(probs, self.k, dim=-1)


class BatchedAll(nn.Module):
    """every expert sees every token: dense mixture."""
    def __init__(self, experts):
        super().__init__()
        self.experts = nn.ModuleList(experts)

    def forward(self, x, w):
        out = 0
        for i, e in enumerate(self.experts):
            out = out + e(x) * w[:, i:i + 1]
        return out


class PhiSparseMixer(nn.Module):
    def __init__(self, h, n, eps):
        super().__init__()
        self.gate = nn.Linear(h, n, bias=False)
        self.eps = eps

    def forward(self, x):
        scores = self.gate(x)
        with torch.no_grad():
            thr, ind = scores.max(dim=-1, keepdim=True)
            factor = scores.abs().clamp(min=thr)
            mask = ((thr - scores) / factor) > (2 * self.eps)
        masked = scores.masked_fill(mask, float("-inf"))
        gates = torch.softmax(masked, dim=-1)  # allow: scaled_masked_softmax caution
        m1 = gates.gather(dim=-1, index=ind)
        return m1, ind


class QwenShared(nn.Module):
    def __init__(self, h, n, k, experts, shared, sg):
        super().__init__()
        self.gate = nn.Linear(h, n, bias=False)
        self.experts = nn.ModuleList(experts)
        self.shared_expert, self.shared_gate = shared, sg
        self.n, self.k = n, k

    def forward(self, hs):
        b, s, h = hs.shape
        hs = hs.view(-1, h)
        rw = F.softmax(self.gate(hs), dim=1, dtype=torch.float)  # expect: moe caution
        rw, sel = torch.topk(rw, self.k, dim=-1)
        final = torch.zeros((b * s, h), dtype=hs.dtype, device=hs.device)
        m = F.one_hot(sel, num_classes=self.n).permute(2, 1, 0)
        for i in torch.greater(m.sum(dim=(-1, -2)), 0).nonzero():  # expect: moe caution
            idx, top_x = torch.where(m[i].squeeze(0))
            cur = hs[None, top_x].reshape(-1, h)
            cur = self.experts[i](cur) * rw[top_x, idx, None]
            final.index_add_(0, top_x, cur.to(hs.dtype))
        final = final + torch.sigmoid(self.shared_gate(hs)) * self.shared_expert(hs)
        return final.reshape(b, s, h)


def fairseq_top1(logits):
    gates = torch.nn.functional.softmax(logits, dim=-1, dtype=torch.float)
    best, index = torch.max(gates, dim=-1)
    return best, index


class ScoreByName(nn.Module):
    """softmax or sigmoid by a name; the weights are those without the bias."""
    def __init__(self, d, n, k, score="softmax"):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(n, d))
        self.bias = nn.Parameter(torch.zeros(n))
        self.k, self.score = k, score

    def forward(self, x):
        scores = F.linear(x, self.weight)
        if self.score == "softmax":
            scores = scores.softmax(dim=-1, dtype=torch.float32)
        else:
            scores = scores.sigmoid()
        unbiased = scores
        ids = torch.topk(scores + self.bias, self.k, dim=-1)[1]  # expect: moe caution
        weights = unbiased.gather(1, ids)
        if self.score == "sigmoid":
            weights /= weights.sum(dim=-1, keepdim=True)
        return weights, ids


class ChoiceInMethod(nn.Module):
    def __init__(self, d, n, k):
        super().__init__()
        self.gate, self.k = nn.Linear(d, n), k
        self.register_buffer("correction", torch.zeros(n))

    @torch.no_grad()
    def choose(self, scores):
        return torch.topk(scores + self.correction, self.k, dim=-1, sorted=False)[1]

    def forward(self, x):
        scores = self.gate(x).sigmoid()
        ids = self.choose(scores)
        weights = scores.gather(1, ids)  # expect: moe caution
        return weights / (weights.sum(-1, keepdim=True) + 1e-20), ids


class MaskedScores(nn.Module):
    def __init__(self, d, n, k):
        super().__init__()
        self.gate, self.k = nn.Linear(d, n), k

    def forward(self, x):
        scores = self.gate(x).softmax(dim=-1)
        ids = scores.topk(self.k, dim=-1).indices  # expect: moe caution
        return scores * torch.zeros_like(scores).scatter_(-1, ids, 1.0)


class OneOrMore(nn.Module):
    """The best one by max, more by topk, in a method that knows no scores."""
    def __init__(self, d, n, k):
        super().__init__()
        self.gate, self.k = nn.Linear(d, n), k

    def best(self, scores):
        if self.k == 1:
            scores, ids = scores.max(dim=-1, keepdim=True)
        else:
            scores, ids = scores.topk(self.k, dim=-1)
        return scores, ids

    def choose_first(self, x):
        values, ids = self.best(self.gate(x))
        return F.softmax(values.float(), dim=-1), ids  # expect: moe caution

    def choose_last(self, x):
        scores = F.softmax(self.gate(x).float(), dim=-1)
        weights, ids = self.best(scores.type_as(x))  # expect: moe caution
        return weights, ids


class BiasWithAxes(nn.Module):
    """Either kind of scores; the bias gets its axes behind a cast."""
    def __init__(self, d, n, k, kind):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(n, d))
        self.correction = nn.Parameter(torch.zeros(n))
        self.k, self.kind = k, kind

    def forward(self, x):
        logits = F.linear(x.float(), self.weight.float())
        scores = F.softmax(logits, dim=-1) if self.kind == "softmax" else logits.sigmoid()
        moved = scores + self.correction.to(dtype=scores.dtype).unsqueeze(0)
        ids = torch.topk(moved, k=self.k, dim=-1, sorted=False)[1]  # expect: moe caution
        return scores.gather(1, ids), ids


class AnotherIsTheRouter(nn.Module):
    """What a method chooses of its own scores is told there, not at its call."""
    def __init__(self, d, n, k):
        super().__init__()
        self.gate, self.k = nn.Linear(d, n), k

    def route(self, x):
        scores = self.gate(x).softmax(dim=-1)
        weights, ids = scores.topk(self.k, dim=-1)  # expect: moe caution
        return ids, weights

    def forward(self, x):
        ids, weights = self.route(x)
        return x * weights.sum(-1, keepdim=True), ids


class BlocksOfExperts(nn.Module):
    """Sorted rows in blocks; each block goes through three products of its expert."""
    def __init__(self, d, h, n):
        super().__init__()
        self.gate = nn.Parameter(torch.empty(n, h, d))
        self.up = nn.Parameter(torch.empty(n, h, d))
        self.down = nn.Parameter(torch.empty(n, d, h))

    def forward(self, rows, counts):
        done = []
        for e, block in enumerate(torch.split(rows, counts.tolist(), dim=0)):  # expect: moe caution
            if block.numel() == 0:
                continue
            act = F.silu(block @ self.gate[e].to(block.dtype).transpose(-2, -1))
            act = act * (block @ self.up[e].to(block.dtype).transpose(-2, -1))  # allow: swiglu recommend|caution
            done.append(act @ self.down[e].to(block.dtype).transpose(-2, -1))
        return torch.cat(done, dim=0)
