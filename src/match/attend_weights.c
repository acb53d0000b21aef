// attend_weights.c - from the product of weights and values up to the softmax: what is
// done to the weights in between, and a softmax that is written out.
#include "base/base.h"

#include "match/attend_impl.h"

enum { WEIGHTS_MAX_DEPTH = 24 };

// ---- dropout ------------------------------------------------------------------

// p where dropout is on, else 0.
static Val *drop_chance(Flow *flow, const Val *dropout) {
    Graph *g = &flow->graph;
    Val *p = dropout->args[1], *training = dropout->args[2];
    if (dropout->assume) { // nn.Dropout behind an attribute: of that module
        Val *module = dropout->assume->subject;
        p = val_attr(g, module, p->name);
        training = val_attr(g, module, training->name);
    }
    int known = val_truth(training);
    if (known == 0 || val_is_int(p, 0)) return NULL;
    return known == 1 ? p : val_new3(g, V_PHI, training, p, val_int(g, 0));
}

static bool read_dropout(Reader *r, Val *v, Weights *out, int depth) {
    if (!read_weights(r, v->args[0], out, depth + 1)) return false;
    Val *chance = drop_chance(r->flow, v);
    if (chance && out->dropout) return read_fails(r, v, "the weights are dropped out twice");
    if (chance) out->dropout = chance;
    return true;
}

// ---- choices ------------------------------------------------------------------

// Of the same scores, whatever dtype each computes in.
static bool same_softmax(const Val *a, const Val *b) {
    return val_strip(a->args[0]) == val_strip(b->args[0]) && a->args[1] == b->args[1];
}

// softmax(x) and softmax(y) in two arms: softmax of the choice between x and y.
static Val *softmax_of_both(Flow *flow, Val *cond, const Val *a, const Val *b) {
    Val *scores = val_new3(&flow->graph, V_PHI, cond, a->args[0], b->args[0]);
    return val_new3(&flow->graph, OP_SOFTMAX, scores, a->args[1], a->args[2]);
}

static bool join_fills(Reader *r, Val *v, Weights *a, const Weights *b) {
    MaskList own = {a->fill, &a->fill_count};
    Weights other = *b;
    return join_masks(r, v->args[0], own, (MaskList){other.fill, &other.fill_count});
}

static bool join_dropout(Reader *r, Val *v, Weights *a, const Weights *b) {
    if (a->dropout == b->dropout) return true;
    Val *none = val_int(&r->flow->graph, 0);
    a->dropout = val_new3(&r->flow->graph, V_PHI, v->args[0], a->dropout ? a->dropout : none,
                          b->dropout ? b->dropout : none);
    return true;
}

static bool take_branch(Reader *r, Val *v, bool holds, const char *why, bool changes) {
    Branch branch = {v->args[0], holds, why, changes};
    vec_push(r->flow->arena, &r->out->branches, branch);
    return true;
}

static bool join_weights(Reader *r, Val *v, Weights *a, const Weights *b) {
    if (a->turned != b->turned) return read_fails(r, v, "a choice between two softmaxes");
    if (a->softmax->args[1] != b->softmax->args[1]) { // over the last axis in one arm
        bool first = val_is_int(a->softmax->args[1], -1);
        if (!first && !val_is_int(b->softmax->args[1], -1)) {
            return read_fails(r, v, "a choice between two softmaxes");
        }
        if (!first) *a = *b;
        r->out->softmax = a->softmax;
        return take_branch(r, v, first, "the softmax is over another axis", true);
    }
    if (!same_softmax(a->softmax, b->softmax)) {
        Val *both = softmax_of_both(r->flow, v->args[0], a->softmax, b->softmax);
        r->out->softmax = a->softmax;
        a->softmax = both;
    }
    return join_fills(r, v, a, b) && join_dropout(r, v, a, b);
}

static bool read_weight_choice(Reader *r, Val *v, Weights *out, int depth) {
    Weights arms[2] = {{0}, {0}};
    const char *why[2] = {0};
    bool fine[2];
    for (int i = 0; i < 2; i++) {
        uint32_t seen = r->out->seen.len, weights = r->out->weights.len;
        const char *reason = r->out->reason;
        fine[i] = read_weights(r, v->args[1 + i], &arms[i], depth + 1);
        if (fine[i] || (i == 1 && !fine[0])) continue;
        why[i] = r->out->reason;
        r->out->seen.len = seen;
        r->out->weights.len = weights;
        r->out->reason = reason;
    }
    if (!fine[0] && !fine[1]) return false;
    *out = arms[fine[0] ? 0 : 1];
    if (fine[0] && fine[1]) return join_weights(r, v, out, &arms[1]);
    return take_branch(r, v, fine[0], why[fine[0] ? 1 : 0], false);
}

// ---- what else is done to weights ----------------------------------------------

// w / w.sum(...)
static bool is_normaliser(Val *v) {
    v = val_strip(v);
    if (v->op != OP_RECIPROCAL) return false;
    v = val_strip(v->args[0]);
    for (uint32_t i = 0; v->op == OP_ADD && i < v->nargs; i++) {
        if (val_strip(v->args[i])->op == OP_SUM) return true;
    }
    return v->op == OP_SUM || (v->op == OP_CLAMP && val_strip(v->args[0])->op == OP_SUM);
}

static bool read_weight_other(Reader *r, Val *v) {
    if (v->op == OP_MUL) {
        if (is_normaliser(v->args[0]) || is_normaliser(v->args[1])) {
            return read_fails(r, v, "the weights are normalised again behind the softmax");
        }
        return read_fails(r, v, "the weights are multiplied by a tensor behind the softmax");
    }
    return read_fails(r, v, "no softmax");
}

Val *joined_scores(Val *v, int depth) {
    v = val_strip(v);
    if (depth > 4) return NULL;
    if (v->op == OP_ADD) {
        Val *found = joined_scores(v->args[0], depth + 1);
        return found ? found : joined_scores(v->args[1], depth + 1);
    }
    bool list = v->op == OP_CAT && (v->args[0]->op == V_TUPLE || v->args[0]->op == V_LIST);
    return list && v->args[0]->nargs ? v->args[0]->args[0] : NULL;
}

// A part of the columns is taken behind the softmax: an attention sink is one that
// joined the scores before.
static bool read_weight_part(Reader *r, Val *v) {
    Val *of = read_open(r, v->args[0]);
    if (of->op != OP_SOFTMAX) return read_weight_other(r, v);
    r->out->softmax = of;
    if (joined_scores(of->args[0], 0)) {
        return read_fails(r, of, "an attention sink joins the scores under the softmax; where the "
                                 "installed operator takes `sink`, it is to be written by hand");
    }
    return read_fails(r, v, "a part of the weights alone is used");
}

// exp(x) / (sum(exp(x), dim, True) + c): a softmax but for c. As op_make reads it without c.
static Val *softmax_but_for(Reader *r, Val *v) {
    for (int i = 0; i < 2; i++) {
        Val *over = val_strip(v->args[1 - i]);
        Val *sum = over->op == OP_RECIPROCAL ? val_strip(over->args[0]) : NULL;
        if (!sum || sum->op != OP_ADD || val_strip(v->args[i])->op != OP_EXP) continue;
        for (int k = 0; k < 2; k++) {
            if (!val_is_number(sum->args[k])) continue;
            Val *bare = op_make(r->flow, OP_RECIPROCAL, &sum->args[1 - k], 1);
            Val *made = op_make(r->flow, OP_MUL, (Val *[]){v->args[i], bare}, 2);
            if (made->op == OP_SOFTMAX) return made;
        }
    }
    return NULL;
}

// A product of weights and something else: is there a softmax at all?
static bool read_weight_product(Reader *r, Val *v, Weights *out, int depth) {
    Val *softmax = softmax_but_for(r, v);
    if (softmax) {
        r->out->trouble = "a number is added to the sum of the weights: they add up to less than 1";
        out->softmax = r->out->softmax = softmax;
        return true;
    }
    for (int i = 0; i < 2; i++) {
        Weights inner = {0};
        uint32_t seen = r->out->seen.len;
        if (val_strip(v->args[i])->op == OP_SOFTMAX &&
            read_weights(r, v->args[i], &inner, depth + 1)) {
            return read_weight_other(r, v);
        }
        r->out->seen.len = seen;
    }
    return read_weight_other(r, v);
}

static bool read_fill(Reader *r, Val *v, Weights *out, int depth) {
    if (!val_is_int(lone_number(v->args[2]), 0)) return read_weight_other(r, v);
    if (!read_weights(r, v->args[0], out, depth + 1)) return false;
    if (out->fill_count == MASKS_MAX) return read_weight_other(r, v);
    out->fill[out->fill_count++] = val_strip(v->args[1]);
    return true;
}

// where(m, w, 0), where(m, 0, w): as a fill of what is left out.
static bool read_weight_where(Reader *r, Val *v, Weights *out, int depth) {
    bool keeps = val_is_int(lone_number(v->args[2]), 0);
    if (!keeps && !val_is_int(lone_number(v->args[1]), 0)) return read_weight_other(r, v);
    if (!read_weights(r, v->args[keeps ? 1 : 2], out, depth + 1)) return false;
    if (out->fill_count == MASKS_MAX) return read_weight_other(r, v);
    Val *mask = val_strip(v->args[0]);
    out->fill[out->fill_count++] = keeps ? inverted_mask(r->flow, mask) : mask;
    return true;
}

// A call of which nothing is known: one of its arguments may be the weights.
static bool read_weight_call(Reader *r, Val *v, Weights *out, int depth) {
    bool unread = takes_unread(r, v);
    r->met_unread |= unread;
    for (uint32_t i = 1; r->open && unread && i < v->nargs; i++) {
        uint32_t seen = r->out->seen.len, weights = r->out->weights.len;
        const char *reason = r->out->reason;
        *out = (Weights){0};
        if (read_weights(r, v->args[i], out, depth + 1)) {
            read_leaves(r, v, "what is done to the weights is not in sight");
            return true;
        }
        r->out->seen.len = seen;
        r->out->weights.len = weights;
        r->out->reason = reason;
    }
    return read_weight_other(r, v);
}

// What a softmax that is written out is computed by, down to the scores.
static void see_written(Reader *r, Val *v, const Val *scores, int depth) {
    if (v == scores || val_strip(v) == scores || depth > 12 || v->op < V_ATTR) return;
    read_sees(r, v);
    for (uint32_t i = 0; i < v->nargs; i++) see_written(r, v->args[i], scores, depth + 1);
}

static bool read_softmax(Reader *r, Val *v, Weights *out) {
    if (v->nargs > 3) see_written(r, v->args[3], val_strip(v->args[0]), 0);
    out->softmax = r->out->softmax = v;
    return true;
}

bool read_weights(Reader *r, Val *v, Weights *out, int depth) {
    if (depth > WEIGHTS_MAX_DEPTH || ++r->steps > 400) return false;
    vec_push(r->flow->arena, &r->out->weights, v);
    v = read_open(r, v);
    read_sees(r, v);
    vec_push(r->flow->arena, &r->out->weights, v);
    Val *turned = below_turn(v);
    if (turned) {
        if (!read_weights(r, turned, out, depth + 1)) return false;
        out->turned = !out->turned;
        return true;
    }
    switch ((int)v->op) {
    case OP_SOFTMAX: return read_softmax(r, v, out);
    case OP_DROPOUT: return read_dropout(r, v, out, depth);
    case V_PHI: return read_weight_choice(r, v, out, depth);
    case OP_VIEW: return read_weights(r, v->args[0], out, depth + 1);
    case OP_MASKED_FILL: return read_fill(r, v, out, depth);
    case OP_WHERE:
        if (v->nargs > 2) return read_weight_where(r, v, out, depth);
        return read_weight_other(r, v);
    case V_ITEM: return read_weight_part(r, v);
    case OP_MUL: return read_weight_product(r, v, out, depth);
    case V_CALL: return read_weight_call(r, v, out, depth);
    default: return read_weight_other(r, v);
    }
}
