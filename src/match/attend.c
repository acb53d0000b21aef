// attend.c - from a product of weights and values down to its queries and keys.
#include "base/base.h"

#include "match/attend_impl.h"
#include "match/tensor_kind.h"

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

void read_leaves(Reader *r, Val *v, const char *why) {
    if (r->out->unread) return;
    r->out->unread = why;
    r->out->unread_at = v;
}

static bool is_library(Str name) {
    return str_starts(name, "torch.") || str_starts(name, "numpy.") || str_starts(name, "math.");
}

bool takes_unread(Reader *r, const Val *call) {
    Val *callee = call->args[0];
    if (callee->op == V_GLOBAL) return !is_library(callee->text);
    if (callee->op == V_LAMBDA) return false;
    // In sight, but decorated.
    bool known = callee->op == V_FUNCTION || callee->op == V_METHOD;
    if (known) return decorators_unseen(r->flow, callee->def);
    Val *made = callee;
    if (callee->op == V_ATTR) {
        Val *object = callee->args[0];
        if (object->op > V_CALL) return false; // a tensor's method
        made = object_class(object) ? object_attr(r->flow, object, callee->name) : NULL;
    }
    return !made || made->op != V_INSTANCE || made->def || !is_library(made->text);
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
    return false;
}

// Where weights are 0 behind the softmax, their scores were left out before.
static bool fills_masks(const Scores *s, const Weights *w) {
    for (uint32_t i = 0; i < w->fill_count; i++) {
        if (!is_filled_mask(s, w->fill[i])) return false;
    }
    return true;
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
    if (!r->out->trouble && !fills_masks(s, w)) {
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
    Val *value = weighted->weights;
    if (value->op == OP_EINSUM) return false;
    if (!read_weights(r, weighted->value, weights, 0)) return false;
    weights->turned = !weights->turned;
    weighted->weights = weighted->value;
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

static void swap_letters(char *axes, char a, char b) {
    for (; *axes; axes++) {
        if (*axes == a) *axes = b;
        else if (*axes == b) *axes = a;
    }
}

// softmax(k @ q^T) over the axis of k: what stands first are the keys.
static void swap_roles(Scores *s) {
    Scores was = *s;
    s->query = was.key;
    s->key = was.query;
    memcpy(s->query_axes, was.key_axes, sizeof(s->query_axes));
    memcpy(s->key_axes, was.query_axes, sizeof(s->key_axes));
    swap_letters(s->query_axes, 'Q', 'K');
    swap_letters(s->key_axes, 'Q', 'K');
    swap_letters(s->axes, 'Q', 'K');
}

static const char *const OTHER_AXIS = "the softmax is over another axis than that of the keys";

// Whether the softmax is over the keys and the weights fit their product; what the
// softmax is over are the keys, if that makes the product fit.
static bool orient(Reader *r, Val *root, Scores *s, const Weights *w, Weighted *weighted) {
    const Val *dim = w->softmax->args[1];
    bool swapped = !is_softmax_axis(s, dim);
    if (swapped) {
        swap_roles(s);
        bool fits = w->turned && !s->one_head && is_softmax_axis(s, dim);
        if (!fits) return read_fails(r, w->softmax, OTHER_AXIS);
    }
    if (s->shift && !is_softmax_axis(s, s->shift)) {
        return read_fails(r, w->softmax, "the largest along another axis is subtracted");
    }
    size_t n = strlen(s->axes);
    if (w->turned) {
        char last = s->axes[n - 1];
        s->axes[n - 1] = s->axes[n - 2];
        s->axes[n - 2] = last;
    }
    if (!weighted_axes(r, root, s, weighted)) {
        if (swapped) r->out->reason = OTHER_AXIS;
        return false;
    }
    if ((swapped || w->turned) && s->bias_count + s->drop_count > 0) {
        r->out->trouble = "masks are added to scores with their axes in another order";
    }
    return true;
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
    } else if (orient(r, root, &scores, &weights, &weighted)) {
        if (!r->out->trouble) order_masks(r, &scores);
        make_form(r, &scores, &weights, &weighted);
    }
}

// ---- torch's own attention ----------------------------------------------------

// scaled_dot_product_attention(q, k, v, mask): torch_npu fuses it where the mask
// is boolean or absent, and runs separate kernels where it is added.
static void read_builtin(Reader *r, Val *v) {
    Graph *g = &r->flow->graph;
    r->out->softmax = v;
    r->out->product = true;
    read_sees(r, v);
    Val *mask = v->args[3], *p = v->args[4], *causal = v->args[5], *scale = v->args[6];
    bool certain = val_is_none(mask) || is_bool_if_tensor(r->flow, mask) || val_truth(causal) == 1;
    if (certain) {
        r->out->fused_already = true;
        read_fails(r, v, "torch_npu fuses scaled_dot_product_attention already where its mask is "
                         "boolean or absent, as it is here; a float mask falls to the slow path");
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

// Once more, with what is not in sight taken for harmless.
static void read_openly(Flow *flow, Val *root) {
    Attend *open = NEW(flow->arena, Attend);
    Reader reader = {.flow = flow, .out = open, .open = true};
    read_attention(&reader, root);
    if (open->form) root->attend = open;
}

const Attend *attend_of(Flow *flow, Val *root) {
    if (root->op != OP_MATMUL && root->op != OP_EINSUM && root->op != OP_SDPA) return NULL;
    if (!root->attend) {
        root->attend = NEW(flow->arena, Attend);
        Reader reader = {.flow = flow, .out = root->attend};
        if (root->op == OP_SDPA) read_builtin(&reader, root);
        else read_attention(&reader, root);
        if (!root->attend->form && reader.met_unread) read_openly(flow, root);
    }
    return root->attend->softmax ? root->attend : NULL;
}

Val *attend_value_operand(Flow *flow, Val *root) {
    Weighted weighted;
    if (root->op == OP_SDPA) return root->args[2];
    return weighted_operands(flow, root, &weighted) ? weighted.value : root;
}
