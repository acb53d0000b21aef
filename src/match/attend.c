// attend.c - from a product of weights and values down to its queries and keys.
#include "base/base.h"

#include "match/attend_impl.h"

enum { WEIGHTS_MAX_DEPTH = 24 };

bool read_fails(Reader *r, Val *at, const char *reason) {
    if (!r->out->reason) {
        r->out->reason = reason;
        r->out->at = at;
    }
    return false;
}

void read_sees(Reader *r, Val *v) {
    vec_push(r->flow->arena, &r->out->seen, v);
}

Val *read_open(Reader *r, Val *v) {
    for (;;) {
        Val *inner = val_strip(v);
        for (Val *c = v; c != inner; c = c->args[0]) read_sees(r, c);
        if (inner->op != OP_CONTIGUOUS && inner->op != OP_CLONE) return inner;
        read_sees(r, inner);
        v = inner->args[0];
    }
}

// ---- weights ----------------------------------------------------------------

// From the product down to the softmax.
typedef struct Weights {
    Val *softmax;
    Val *dropout; // NULL: none
    Val *fill;    // weights that are set to 0 where this holds, or NULL
} Weights;

static bool read_weights(Reader *r, Val *v, Weights *out, int depth);

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

// Of the same scores, whatever dtype each computes in.
static bool same_softmax(const Val *a, const Val *b) {
    return val_strip(a->args[0]) == val_strip(b->args[0]) && a->args[1] == b->args[1];
}

static bool join_weights(Reader *r, Val *v, Weights *a, const Weights *b) {
    Graph *g = &r->flow->graph;
    if (!same_softmax(a->softmax, b->softmax) || a->fill != b->fill) {
        return read_fails(r, v, "a choice between two softmaxes");
    }
    if (a->dropout == b->dropout) return true;
    Val *none = val_int(g, 0);
    a->dropout = val_new3(g, V_PHI, v->args[0], a->dropout ? a->dropout : none,
                          b->dropout ? b->dropout : none);
    return true;
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
    Branch branch = {v->args[0], fine[0], why[fine[0] ? 1 : 0], false};
    vec_push(r->flow->arena, &r->out->branches, branch);
    return true;
}

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

// cat((scores, sink)), the largest subtracted or not; NULL: it is none.
static Val *joined_scores(Val *v, int depth) {
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

static bool read_weights(Reader *r, Val *v, Weights *out, int depth) {
    if (depth > WEIGHTS_MAX_DEPTH || ++r->steps > 400) return false;
    vec_push(r->flow->arena, &r->out->weights, v);
    v = read_open(r, v);
    read_sees(r, v);
    vec_push(r->flow->arena, &r->out->weights, v);
    switch ((int)v->op) {
    case OP_SOFTMAX:
        out->softmax = r->out->softmax = v;
        return true;
    case OP_DROPOUT: return read_dropout(r, v, out, depth);
    case V_PHI: return read_weight_choice(r, v, out, depth);
    case OP_VIEW: return read_weights(r, v->args[0], out, depth + 1);
    case OP_MASKED_FILL:
        if (!val_is_int(lone_number(v->args[2]), 0)) return read_weight_other(r, v);
        if (!read_weights(r, v->args[0], out, depth + 1)) return false;
        out->fill = val_strip(v->args[1]);
        return true;
    case V_ITEM: return read_weight_part(r, v);
    case OP_MUL: // is there a softmax at all?
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
    default: return read_weight_other(r, v);
    }
}

// ---- the form ---------------------------------------------------------------

static bool is_softmax_axis(const Scores *s, const Val *dim) {
    const char *at = strchr(s->axes, 'K');
    if (!val_is_number(dim) || !at) return false;
    int64_t axes = (int64_t)strlen(s->axes), behind = (int64_t)(at - s->axes) - axes;
    int64_t rank = s->heads ? (int64_t)s->rank : axes, axis = (int64_t)dim->num;
    return axis == behind || axis == rank + behind;
}

// Of several masks the sum, or the boolean or.
static Val *join_all(Flow *flow, Val *const *masks, uint32_t n, bool booleans) {
    Val *all = n ? masks[0] : val_none(&flow->graph);
    for (uint32_t i = 1; i < n; i++) {
        Val *both[] = {all, masks[i]};
        Val v = {.op = V_PYOP, .ck = A_BIT_OR, .nargs = 2, .args = both};
        all = booleans ? val_intern(&flow->graph, &v)
            : val_new2(&flow->graph, OP_ADD, all, masks[i]);
    }
    return all;
}

// "BNQD" -> "BNSD": what the operator calls it.
static const char *layout_name(const char *axes) {
    static const char *const rows[][2] = {
        {"BNQD", "BNSD"}, {"BQND", "BSND"}, {"NQD", "NSD"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (strcmp(axes, rows[i][0]) == 0) return rows[i][1];
    }
    return NULL;
}

static void with_length(char *out, const char *axes, char length) {
    size_t i = 0;
    for (; axes[i]; i++) out[i] = axes[i] == 'Q' ? length : axes[i];
    out[i] = 0;
}

// Query, key and value with the axes of the result.
static bool align(Reader *r, const Scores *s, const Weighted *w, Val **out) {
    char keys[AXES_MAX + 1];
    with_length(keys, w->axes, 'K');
    out[ATTEND_QUERY] = reorder_axes(r->flow, s->query, s->query_axes, w->axes);
    out[ATTEND_KEY] = reorder_axes(r->flow, s->key, s->key_axes, keys);
    out[ATTEND_VALUE] = reorder_axes(r->flow, read_open(r, w->value), w->value_axes, keys);
    return out[ATTEND_QUERY] && out[ATTEND_KEY] && out[ATTEND_VALUE];
}

static void unrepeat_heads(Reader *r, Val **args, const char *layout) {
    int axis = strcmp(layout, "BSND") == 0 ? 2 : 1;
    Val *tk = NULL, *tv = NULL;
    if (strcmp(layout, "NSD") == 0) return;
    Val *key = attend_unrepeat(r->flow, args[ATTEND_KEY], axis, &tk);
    Val *value = attend_unrepeat(r->flow, args[ATTEND_VALUE], axis, &tv);
    if (!key || !value || tk != tv) return;
    for (Val *v = args[ATTEND_KEY]; v && v != key; v = v->nargs && v->op != V_PHI ? v->args[0]
         : NULL) {
        read_sees(r, v);
    }
    for (Val *v = args[ATTEND_VALUE]; v && v != value;
         v = v->nargs && v->op != V_PHI ? v->args[0] : NULL) {
        read_sees(r, v);
    }
    args[ATTEND_KEY] = key;
    args[ATTEND_VALUE] = value;
    args[ATTEND_TIMES] = tk;
    r->out->grouped = true;
}

static const char *find_trouble(const Scores *s, const char *layout) {
    if (!layout) return "its axes are not those of a layout that the operator has";
    if (s->flat_masks && s->heads) return "masks of three and of four axes are mixed";
    return NULL;
}

// Scores of three axes that were seen as four up to the product with values of
// four: query and key are seen so, too.
static void unfold_heads(Reader *r, Scores *s, const Weighted *w) {
    uint32_t rank = value_rank(w->value);
    if (!s->heads || s->rank != 4 || (rank && rank != 4)) return;
    Graph *g = &r->flow->graph;
    Val *sizes = val_new2(g, V_TUPLE, val_int(g, -1), s->heads);
    s->query = val_new3(g, OP_UNFLATTEN, s->query, val_int(g, 0), sizes);
    s->key = val_new3(g, OP_UNFLATTEN, s->key, val_int(g, 0), sizes);
    memcpy(s->query_axes, "BNQD", 5);
    memcpy(s->key_axes, "BNKD", 5);
    memcpy(s->axes, "BNQK", 5);
    s->heads = NULL;
}

// Masks in the order of the scores (b, q, n, k) as masks of (b, n, q, k); false
// where it is not known how many axes they have.
static bool turn_masks(Reader *r, const Scores *s, Val **masks, uint32_t count) {
    Graph *g = &r->flow->graph;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t rank = value_rank(masks[i]);
        if (rank == 1) continue; // of keys alone
        if (rank < 3 || strcmp(s->axes, "BQNK") != 0) return false;
        masks[i] = val_new3(g, OP_TRANSPOSE, masks[i], val_int(g, -3), val_int(g, -2));
    }
    return true;
}

static void order_masks(Reader *r, Scores *s) {
    size_t n = strlen(s->axes);
    if (strcmp(s->axes + n - 2, "QK") == 0) return;
    bool turned = turn_masks(r, s, s->bias, s->bias_count) &&
                  turn_masks(r, s, s->drop, s->drop_count);
    if (!turned) r->out->trouble = "masks are added to scores with their axes in another order";
}

static bool is_filled_mask(const Scores *s, const Val *fill) {
    for (uint32_t i = 0; i < s->drop_count; i++) {
        if (s->drop[i] == fill) return true;
    }
    return !fill;
}

static void make_form(Reader *r, const Scores *s, const Weights *w, Weighted *weighted) {
    Graph *g = &r->flow->graph;
    Val *args[ATTEND_ARGS];
    if (!align(r, s, weighted, args)) {
        read_fails(r, weighted->value, "the axes of query, key and value do not fit");
        return;
    }
    const char *layout = layout_name(weighted->axes);
    if (!r->out->trouble) r->out->trouble = find_trouble(s, layout);
    if (!r->out->trouble && !is_filled_mask(s, w->fill)) {
        r->out->trouble = "weights are set to 0 behind the softmax, by a mask of their own";
    }
    if (!layout) layout = "BNSD";
    args[ATTEND_TIMES] = val_int(g, 1);
    unrepeat_heads(r, args, layout);
    args[ATTEND_SCALE] = s->scale ? s->scale : val_int(g, 1);
    args[ATTEND_BIAS] = join_all(r->flow, s->bias, s->bias_count, false);
    args[ATTEND_DROP] = join_all(r->flow, s->drop, s->drop_count, true);
    args[ATTEND_DROPOUT] = w->dropout ? w->dropout : val_none(g);
    args[ATTEND_AXES] = val_str(g, str_of(layout));
    args[ATTEND_HEADS] = s->heads ? s->heads : val_int(g, 1);
    r->out->form = val_new(g, OP_ATTEND, args, ATTEND_ARGS);
}

// v @ w^T is the transpose of what the operator gives.
static bool read_flipped(Reader *r, Weighted *weighted, Weights *weights) {
    Val *other = val_strip(weighted->value);
    bool flips = other->op == OP_TRANSPOSE || other->op == OP_PERMUTE;
    if (!flips || weighted->weights->op == OP_EINSUM) return false;
    Val *value = weighted->weights;
    if (!read_weights(r, other->args[0], weights, 0)) return false;
    weighted->weights = other->args[0];
    weighted->value = value;
    r->out->trouble = "the product stands transposed: the values times the weights";
    return true;
}

// Weights that are more than a softmax: whether a product of two tensors stands
// below it says if it is attention at all.
static void look_below(Reader *r) {
    const char *reason = r->out->reason;
    Val *at = r->out->at, *under = r->out->softmax->args[0], *joined = joined_scores(under, 0);
    Scores scores = {0};
    read_scores(r, joined ? joined : under, &scores, 0);
    r->out->reason = reason;
    r->out->at = at;
}

static void read_attention(Reader *r, Val *root) {
    Weighted weighted;
    Weights weights = {0};
    Scores scores = {0};
    if (!weighted_operands(r->flow, root, &weighted)) return;
    read_sees(r, root);
    if (!read_weights(r, weighted.weights, &weights, 0)) {
        if (r->out->softmax) {
            look_below(r);
            return;
        }
        if (root->op != OP_MATMUL) return;
        r->out->reason = NULL;
        if (!read_flipped(r, &weighted, &weights)) return;
    }
    if (!read_scores(r, weights.softmax->args[0], &scores, 0)) return;
    unfold_heads(r, &scores, &weighted);
    if (scores.gate) {
        read_fails(r, scores.gate, "the scores are multiplied by a tensor before the softmax");
    } else if (!is_softmax_axis(&scores, weights.softmax->args[1])) {
        read_fails(r, weights.softmax, "the softmax is over another axis than that of the keys");
    } else if (weighted_axes(r, root, &scores, &weighted)) {
        order_masks(r, &scores);
        make_form(r, &scores, &weights, &weighted);
    }
}

// ---- torch's own attention ----------------------------------------------------

// x > 0, ~m, m.bool(): certainly a boolean.
static bool is_boolean(const Val *v, int depth) {
    if (depth > 6) return false;
    if (v->op == V_CAST) return val_is_global(v->args[1], "torch.bool");
    if (v->op == V_PHI) {
        return is_boolean(v->args[1], depth + 1) && is_boolean(v->args[2], depth + 1);
    }
    if (v->op != V_PYOP) return false;
    switch ((int)v->ck) {
    case A_LT: case A_LT_E: case A_GT: case A_GT_E: case A_EQ: case A_NOT_EQ: return true;
    case A_INVERT: return is_boolean(v->args[0], depth + 1);
    default: return false;
    }
}

// scaled_dot_product_attention(q, k, v, mask): torch_npu fuses it where the mask
// is boolean or absent, and runs separate kernels where it is added.
static void read_builtin(Reader *r, Val *v) {
    Graph *g = &r->flow->graph;
    r->out->softmax = v;
    r->out->product = true;
    read_sees(r, v);
    Val *mask = v->args[3], *p = v->args[4], *causal = v->args[5], *scale = v->args[6];
    bool certain = val_is_none(mask) || is_boolean(mask, 0) || val_truth(causal) == 1;
    if (certain) {
        read_fails(r, v, "torch_npu fuses scaled_dot_product_attention already: without a mask, "
                         "and with a boolean one, it is one kernel (low value)");
        return;
    }
    Val *args[ATTEND_ARGS];
    for (int i = 0; i < 3; i++) args[i] = read_open(r, v->args[i]);
    Val *width = op_size(r->flow, args[ATTEND_QUERY], val_int(g, -1));
    args[ATTEND_SCALE] = val_is_none(scale) ? op_make(r->flow, OP_RSQRT, &width, 1) : scale;
    args[ATTEND_BIAS] = val_strip(mask);
    args[ATTEND_DROP] = val_none(g);
    args[ATTEND_DROPOUT] = val_is_int(p, 0) ? val_none(g) : p;
    args[ATTEND_AXES] = val_str(g, STR("builtin"));
    args[ATTEND_HEADS] = args[ATTEND_TIMES] = val_int(g, 1);
    r->out->grouped = val_truth(v->args[7]) == 1;
    r->out->form = val_new(g, OP_ATTEND, args, ATTEND_ARGS);
}

const Attend *attend_of(Flow *flow, Val *root) {
    if (root->op != OP_MATMUL && root->op != OP_EINSUM && root->op != OP_SDPA) return NULL;
    if (!root->attend) {
        root->attend = NEW(flow->arena, Attend);
        Reader reader = {.flow = flow, .out = root->attend};
        if (root->op == OP_SDPA) read_builtin(&reader, root);
        else read_attention(&reader, root);
    }
    return root->attend->softmax ? root->attend : NULL;
}

Val *attend_value_operand(Flow *flow, Val *root) {
    Weighted weighted;
    if (root->op == OP_SDPA) return root->args[2];
    return weighted_operands(flow, root, &weighted) ? weighted.value : root;
}
