// match.c - follows a pattern's graph through the kernels of a stream. Each kernel
// is given to the first node that it fits: operator, shapes of inputs and output,
// and dtypes, which must be those that the nodes before really made.
#include "base/base.h"

#include "prof/match.h"

enum { MAX_BETWEEN = 8 }; // casts and the like between two nodes

typedef struct Flow {
    const Pattern *pattern;
    const MatchView *view;
    const ProfTensor *x, *heads, *keys, *table;
    const ProfKind *before;         // the kernel that the run took last
    uint32_t last;                  // its last node that is no cast back
    uint32_t done;                  // nodes that have a kernel
    uint32_t dtypes[PATTERN_NODES]; // bit d: what the node made exists as dtype d
    ProfDtype narrow;               // the short dtype that came in
    bool is_far;                    // a product stands between
    const ProfTensor *far;          // what it made
    bool takes_store;               // the pattern cuts X, or parts of it, out of a larger tensor
    bool ran_out;                   // the stream ended before a kernel said no
    Match match;
} Flow;

static int64_t last_axis(const ProfTensor *t) {
    return t->rank ? t->dims[t->rank - 1] : 1;
}

// Whether t broadcasts to x, axes of 1 left out on the left.
static bool spreads(const ProfTensor *t, const ProfTensor *x) {
    uint32_t axes = t->rank < x->rank ? t->rank : x->rank;
    for (uint32_t i = 1; i <= axes; i++) {
        int64_t a = t->dims[t->rank - i], b = x->dims[x->rank - i];
        if (a != b && a != 1) return false;
    }
    for (uint32_t i = axes + 1; i <= t->rank; i++) {
        if (t->dims[t->rank - i] != 1) return false;
    }
    return true;
}

// Whether t broadcasts to the scores x, whose leading axes may be folded into one.
static bool spreads_over(const ProfTensor *t, const ProfTensor *x) {
    if (spreads(t, x)) return true;
    if (t->rank < 2 || x->rank < 2 || !t->count || x->count % t->count) return false;
    int64_t a = t->dims[t->rank - 2], b = x->dims[x->rank - 2];
    return last_axis(t) == last_axis(x) && (a == b || a == 1);
}

static bool is_scalar(const ProfTensor *t) {
    bool whole = t->dtype == DT_INT64 || t->dtype == DT_INT32;
    return t->count == 1 || (whole && t->count <= 8);
}

static bool is_row(const ProfTensor *t, const ProfTensor *x) {
    int64_t axis = last_axis(x);
    if (x->rank < 1 || axis < 2 || t->count * (uint64_t)axis != x->count) return false;
    bool kept = last_axis(t) == 1;
    return kept || x->rank < 2 || last_axis(t) == x->dims[x->rank - 2];
}

// As many rows as the queries (backwards the values' gradient) have, of another width: values
// are narrower, and backwards what belongs to queries and keys is wider.
static bool is_other_heads(const Flow *flow, const ProfTensor *t) {
    bool backward = flow->pattern->direction == RUN_BACKWARD;
    int64_t d = last_axis(flow->heads);
    if (d < 1 || !flow->keys) return false; // an axis may be empty
    uint64_t queries = flow->heads->count / (uint64_t)d, keys = flow->keys->count / (uint64_t)d;
    for (uint32_t i = 1; i <= 2; i++) {
        int64_t axis = t->dims[t->rank - i];
        bool fits = axis > 1 && (backward ? axis > d : axis < d);
        uint64_t rows = fits ? t->count / (uint64_t)axis : 0;
        if (fits && (rows == queries || rows == keys)) return true;
    }
    return false;
}

static bool is_heads(const Flow *flow, const ProfTensor *t) {
    const ProfTensor *q = flow->heads, *k = flow->keys;
    if (!q || t->rank < 2) return false;
    int64_t d = last_axis(q);
    if (flow->pattern->has_narrow_values && is_other_heads(flow, t)) return true;
    bool axis = last_axis(t) == d || t->dims[t->rank - 2] == d;
    return axis && (t->count == q->count || (k && t->count == k->count));
}

// Whether t broadcasts to the half of x and has all of its last axis.
static bool is_half_table(const ProfTensor *t, const ProfTensor *x) {
    int64_t axis = last_axis(x);
    if (axis % 2 || last_axis(t) * 2 != axis || x->rank < 1) return false;
    ProfTensor half = *x;
    half.dims[half.rank - 1] = axis / 2;
    return spreads(t, &half);
}

// Shapes that few patterns ask for.
static bool has_rare_shape(const ProfTensor *t, const ProfTensor *x, uint32_t wanted) {
    int64_t axis = last_axis(x), last = last_axis(t);
    int64_t second = t->rank > 1 ? t->dims[t->rank - 2] : 0;
    bool apart = second * 2 == axis && axis > 2;
    if ((wanted & SHAPE_PAIRS) && t->count == x->count && last == 2 && apart) return true;
    if ((wanted & SHAPE_APART) && t->count * 2 == x->count && last == 1 && apart) return true;
    if ((wanted & SHAPE_HALF_TABLE) && is_half_table(t, x)) return true;
    if ((wanted & SHAPE_EACH) && t->rank > 1 && t->dims[0] > 1 &&
        (uint64_t)t->dims[0] == x->count) {
        return true;
    }
    bool rows = axis > 0 && t->count % (uint64_t)axis == 0;
    if ((wanted & SHAPE_STORE) && t->count >= x->count && rows) return true;
    return (wanted & SHAPE_FOLD) && last == axis && t->count && t->count < x->count &&
           x->count % t->count == 0;
}

static bool has_shape(const Flow *flow, const ProfTensor *t, uint32_t wanted) {
    const ProfTensor *x = flow->x;
    int64_t axis = last_axis(x), last = last_axis(t);
    if (wanted & SHAPE_ANY) return true;
    if ((wanted & SHAPE_X) && t->count == x->count && last == axis) return true;
    if ((wanted & SHAPE_ROW) && is_row(t, x)) return true;
    if ((wanted & SHAPE_LAST) && t->count == (uint64_t)axis && last == axis) return true;
    if ((wanted & SHAPE_HALF) && t->count * 2 == x->count && last * 2 == axis) return true;
    if ((wanted & SHAPE_DOUBLE) && t->count == x->count * 2 && last == axis * 2) return true;
    if ((wanted & SHAPE_TABLE) && last == axis && spreads(t, x)) return true;
    if ((wanted & SHAPE_SCALAR) && is_scalar(t)) return true;
    if ((wanted & SHAPE_SPREAD) && !is_scalar(t) && spreads_over(t, x)) return true;
    if (wanted >= SHAPE_PAIRS && has_rare_shape(t, x, wanted)) return true;
    return (wanted & SHAPE_HEADS) && is_heads(flow, t);
}

static bool has_op(const PatternNode *node, const ProfKind *kind) {
    for (int i = 0; i < PATTERN_OPS && node->ops[i]; i++) {
        if (node->ops[i] == kind->op) return true;
        // x * x and pow(x, 2) are squares
        if (node->ops[i] == OP_SQUARE && kind->op == OP_POW) return true;
        bool square = node->ops[i] == OP_SQUARE && kind->op == OP_MUL && kind->in_count == 2 &&
                      kind->in[0].count == kind->in[1].count;
        if (square) return true;
    }
    return false;
}

// Gives each wanted shape an input of its own; the inputs left have to be scalars
// or, where the node is loose, whatever.
static bool inputs_fit(const Flow *flow, const PatternNode *node, const ProfKind *kind) {
    uint32_t used = 0;
    for (int w = 0; w < 3 && node->in[w]; w++) {
        uint32_t i = 0;
        while (i < kind->in_count && ((used & (1u << i)) || kind->in[i].is_absent ||
                                      !has_shape(flow, &kind->in[i], node->in[w]))) {
            i++;
        }
        if (i == kind->in_count) return false;
        used |= 1u << i;
    }
    bool loose = (node->flags & NODE_LOOSE) || (node->ops[0] == OP_MATMUL) ||
                 kind->op == OP_SWISH_GRAD || kind->op == OP_GELU_GRAD ||
                 kind->op == OP_ADDCMUL || kind->op == OP_ADDCDIV;
    for (uint32_t i = 0; i < kind->in_count && !loose; i++) {
        const ProfTensor *t = &kind->in[i];
        if ((used & (1u << i)) || t->is_absent || is_scalar(t)) continue;
        bool square = node->ops[0] == OP_SQUARE && has_shape(flow, t, SHAPE_X);
        if (!square) return false;
    }
    return true;
}

// The shapes that what node `n` made may have: pairs are put together without a kernel.
static uint32_t handed_on(const Flow *flow, uint32_t n) {
    uint32_t shape = flow->pattern->nodes[n].out;
    return shape & SHAPE_PAIRS ? shape | SHAPE_X : shape;
}

// Whether one of the inputs is what node `n` made: its shape, in a dtype it exists as.
static bool feeds(const Flow *flow, uint32_t n, const ProfKind *kind) {
    uint32_t shape = handed_on(flow, n);
    for (uint32_t i = 0; i < kind->in_count; i++) {
        const ProfTensor *t = &kind->in[i];
        if (t->is_absent || !has_shape(flow, t, shape)) continue;
        uint32_t as = flow->dtypes[n];
        if (t->dtype == DT_NONE || as == 0 || (as & (1u << t->dtype))) return true;
    }
    return false;
}

static bool flow_fits(const Flow *flow, const PatternNode *node, const ProfKind *kind) {
    bool whole = (node->flags & NODE_APART) && kind->op == node->ops[0];
    bool strict = (node->flags & (NODE_STRICT | NODE_APART)) && !whole;
    for (uint32_t n = 0; n < flow->pattern->node_count; n++) {
        if (!(node->from & (1u << n))) continue;
        if (flow->done & (1u << n)) {
            if (!feeds(flow, n, kind)) return false;
        } else if (!(flow->pattern->nodes[n].flags & NODE_OPTIONAL) || strict) {
            return false;
        }
    }
    return true;
}

static bool is_low(ProfDtype dtype) {
    return dtype == DT_BF16 || dtype == DT_FP16;
}

static bool cast_fits(const Flow *flow, const PatternNode *node, const ProfKind *kind) {
    if (!(node->flags & (NODE_WIDE | NODE_NARROW))) return true;
    if (kind->in_count < 1 || kind->out_count < 1) return false;
    ProfDtype from = (ProfDtype)kind->in[0].dtype, to = (ProfDtype)kind->out[0].dtype;
    if (node->flags & NODE_WIDE) return is_low(from) && to == DT_FP32;
    return from == DT_FP32 && is_low(to) && flow->narrow == to;
}

static bool output_fits(const Flow *flow, const PatternNode *node, const ProfKind *kind) {
    if (node->out & SHAPE_ANY) return true;
    return kind->out_count > 0 && has_shape(flow, &kind->out[0], node->out);
}

static uint32_t mandatory(const Pattern *pattern) {
    uint32_t bits = 0;
    for (uint32_t n = 0; n < pattern->node_count; n++) {
        if (!(pattern->nodes[n].flags & NODE_OPTIONAL)) bits |= 1u << n;
    }
    return bits;
}

static bool same_axes(const ProfTensor *a, const ProfTensor *b) {
    return a->rank == b->rank && memcmp(a->dims, b->dims, a->rank * sizeof(*a->dims)) == 0;
}

static bool axes_fit(const Flow *flow, const PatternNode *node, const ProfKind *kind) {
    if (!(node->flags & NODE_SAME)) return true;
    bool same = kind->out_count && same_axes(&kind->out[0], flow->x);
    for (uint32_t i = 0; i < kind->in_count && same; i++) {
        same = same_axes(&kind->in[i], flow->x) || is_scalar(&kind->in[i]);
    }
    return same;
}

// Whether all other nodes that must come have come.
static bool order_fits(const Flow *flow, uint32_t n) {
    const Pattern *pattern = flow->pattern;
    if (!(pattern->nodes[n].flags & NODE_LAST)) return true;
    return ((flow->done | 1u << n) & mandatory(pattern)) == mandatory(pattern);
}

static bool chain_fits(const Flow *flow, const PatternNode *node, const ProfKind *kind) {
    const ProfKind *before = flow->before;
    if ((node->flags & NODE_NEXT) && !(node->from >> flow->last & 1)) return false;
    if (!(node->flags & NODE_CHAIN)) return true;
    if (!before || !before->in_count || !before->out_count || !kind->in_count) return false;
    return kind->out_count && kind->in[0].dtype == before->out[0].dtype &&
           same_axes(&kind->in[0], &before->out[0]) &&
           !same_axes(&kind->out[0], &before->in[0]) && !same_axes(&kind->out[0], &kind->in[0]);
}

static bool dtype_fits(const PatternNode *node, const ProfKind *kind) {
    if (!(node->flags & (NODE_LOW | NODE_FP32))) return true;
    if (!kind->out_count) return false;
    ProfDtype dtype = (ProfDtype)kind->out[0].dtype;
    return node->flags & NODE_LOW ? is_low(dtype) : dtype == DT_FP32;
}

static bool node_fits(const Flow *flow, uint32_t n, const ProfKind *kind) {
    const PatternNode *node = &flow->pattern->nodes[n];
    return has_op(node, kind) && inputs_fit(flow, node, kind) &&
           output_fits(flow, node, kind) && cast_fits(flow, node, kind) &&
           dtype_fits(node, kind) && axes_fit(flow, node, kind) &&
           chain_fits(flow, node, kind) && order_fits(flow, n) && flow_fits(flow, node, kind);
}

static int find_node(const Flow *flow, const ProfKind *kind, uint32_t flags, uint32_t not_flags) {
    for (uint32_t n = 0; n < flow->pattern->node_count; n++) {
        uint32_t have = flow->pattern->nodes[n].flags;
        bool open = !(flow->done & (1u << n)) || (have & NODE_MANY);
        if (!open || (have & flags) != flags || (have & not_flags)) continue;
        if (node_fits(flow, n, kind)) return (int)n;
    }
    return -1;
}

static uint32_t dtype_bit(const ProfTensor *t) {
    return t->dtype == DT_NONE ? 0 : 1u << t->dtype;
}

static const ProfTensor *smaller(const ProfTensor *a, const ProfTensor *b) {
    return a->count < b->count ? a : b;
}

static void take(Flow *flow, uint32_t n, uint32_t offset) {
    const PatternNode *node = &flow->pattern->nodes[n];
    const ProfKind *kind = &flow->view->kinds[flow->view->ids[offset]];
    flow->done |= 1u << n;
    flow->before = kind;
    if (!(node->flags & NODE_NARROW)) flow->last = n;
    for (uint32_t i = 0; i < kind->out_count; i++) {
        bool made = i == 0 || has_shape(flow, &kind->out[i], node->out);
        if (made) flow->dtypes[n] |= dtype_bit(&kind->out[i]);
    }
    if (kind->in_count && is_low((ProfDtype)kind->in[0].dtype)) {
        flow->narrow = (ProfDtype)kind->in[0].dtype;
    }
    bool has_table = node->in[1] & (SHAPE_TABLE | SHAPE_HALF_TABLE);
    if (has_table) flow->table = smaller(&kind->in[0], &kind->in[1]);
    flow->match.members |= UINT64_C(1) << offset;
    flow->match.length = (uint8_t)(offset + 1);
    // A chain or a cast hands on what it was given, in the dtype that it makes.
    if (!(node->flags & (NODE_MANY | NODE_NARROW))) return;
    for (uint32_t m = 0; m < flow->pattern->node_count; m++) {
        bool same = flow->pattern->nodes[m].out == node->out && (flow->done & (1u << m));
        if (same) flow->dtypes[m] |= flow->dtypes[n];
    }
}

static bool is_layout(ProfOp op) {
    return op == OP_TRANSPOSE || op == OP_RETILE || op == OP_COPY || op == OP_SLICE;
}

// Whether the kernel makes a mask of attention ready: all it takes and makes goes over the
// scores, and is smaller.
static bool makes_mask(const Flow *flow, const ProfKind *kind) {
    ProfOp op = (ProfOp)kind->op;
    const ProfTensor *out = &kind->out[0], *x = flow->x;
    bool plain = is_layout(op) || (op >= OP_ADD && op <= OP_DIV) || op == OP_CAST ||
                 op == OP_COMPARE || op == OP_LOGIC || op == OP_SELECT || op == OP_MASKED_FILL;
    bool is_mask = out->rank && out->count < x->count && last_axis(out) == last_axis(x) &&
                   spreads_over(out, x);
    if (!flow->heads || !plain || !is_mask) return false;
    for (uint32_t i = 0; i < kind->in_count && op != OP_SLICE; i++) {
        const ProfTensor *in = &kind->in[i];
        if (!in->is_absent && !is_scalar(in) && !spreads_over(in, x)) return false;
    }
    return true;
}

// A cast of something the run has, a change of its layout, a fill or random bits:
// kernels that need no node. False: a stranger.
static bool passes(Flow *flow, const ProfKind *kind) {
    static const uint32_t known = SHAPE_X | SHAPE_ROW | SHAPE_LAST | SHAPE_HALF | SHAPE_DOUBLE |
                                  SHAPE_TABLE | SHAPE_HEADS | SHAPE_SPREAD | SHAPE_SCALAR;
    ProfOp op = (ProfOp)kind->op;
    if (op == OP_FILL) return true;
    if (op == OP_DROPOUT_MASK) return true;
    if (kind->in_count < 1 || kind->out_count < 1) return false;
    const ProfTensor *in = &kind->in[0], *out = &kind->out[0];
    if (makes_mask(flow, kind)) return true;
    // One of q, k, v, cut out of a tensor with all three, or repeated for groups of heads; X, its
    // half or its double, cut out of a larger one, their axes in any order.
    bool is_cut = is_layout(op) && in->count > out->count && in->dtype == out->dtype;
    if (is_cut && has_shape(flow, out, SHAPE_HEADS | SHAPE_X)) return true;
    uint64_t x = flow->x->count;
    if (is_cut && (out->count == x || out->count * 2 == x || out->count == 2 * x)) return true;
    if (op == OP_BROADCAST && has_shape(flow, out, SHAPE_HEADS)) return true;
    if (in->count != out->count) return false;
    bool is_known = has_shape(flow, in, known);
    if (is_layout(op)) {
        bool is_store = (flow->takes_store && has_shape(flow, in, SHAPE_STORE)) ||
                        (flow->heads && in->count > flow->heads->count);
        return in->dtype == out->dtype && (is_known || is_store || has_shape(flow, out, known));
    }
    if (op != OP_CAST || !is_known) return false;
    for (uint32_t n = 0; n < flow->pattern->node_count; n++) {
        bool made = (flow->done & (1u << n)) && has_shape(flow, in, handed_on(flow, n));
        if (made && (flow->dtypes[n] & dtype_bit(in))) flow->dtypes[n] |= dtype_bit(out);
    }
    return true;
}

// Whether the kernel casts a matrix to what a product takes, as autocast does.
static bool casts_weight(const ProfKind *kind) {
    return kind->op == OP_CAST && kind->in_count && kind->in[0].rank == 2 &&
           kind->in[0].dtype == DT_FP32 && is_low((ProfDtype)kind->out[0].dtype);
}

// Backwards: a product of the one gradient, the sum of it that is a bias's, and what adds up or
// casts what the product made.
static bool passes_far_back(Flow *flow, const ProfKind *kind) {
    bool takes_x = false;
    for (uint32_t i = 0; i < kind->in_count; i++) {
        takes_x |= kind->in[i].rank > 1 && kind->in[i].count == flow->x->count;
    }
    if (kind->op == OP_MATMUL && takes_x) {
        flow->is_far = true;
        flow->far = &kind->out[0];
        return true;
    }
    if (kind->op == OP_SUM && takes_x) return has_shape(flow, &kind->out[0], SHAPE_LAST);
    bool adds_up = (kind->op == OP_ADD || kind->op == OP_CAST) && flow->far && kind->in_count;
    return adds_up && kind->out[0].count == flow->far->count;
}

// A product, the cast of its weight or an added bias, that make the other factor of a gate.
static bool passes_far(Flow *flow, const ProfKind *kind) {
    bool wanted = false;
    for (uint32_t n = 0; n < flow->pattern->node_count; n++) {
        wanted |= (flow->pattern->nodes[n].flags & NODE_FAR) && !(flow->done & (1u << n));
    }
    if (!wanted || kind->out_count < 1) return false;
    if (flow->pattern->direction == RUN_BACKWARD) return passes_far_back(flow, kind);
    if (casts_weight(kind)) return true;
    bool makes_x = has_shape(flow, &kind->out[0], SHAPE_X);
    bool is_bias = kind->op == OP_ADD && kind->in_count == 2 && flow->is_far &&
                   (has_shape(flow, &kind->in[0], SHAPE_LAST) ||
                    has_shape(flow, &kind->in[1], SHAPE_LAST));
    if (!makes_x || (kind->op != OP_MATMUL && !is_bias)) return false;
    flow->is_far = true;
    return true;
}

static bool is_complete(const Flow *flow) {
    uint32_t must = mandatory(flow->pattern);
    return (flow->done & must) == must;
}

// The tensor of the first kernel that the pattern calls X; false if it cannot be.
static bool set_x(Flow *flow, const ProfKind *kind) {
    const Pattern *pattern = flow->pattern;
    bool by_input = pattern->anchor == ANCHOR_IN;
    if (by_input ? kind->in_count < 1 : kind->out_count < 1) return false;
    flow->x = by_input ? &kind->in[0] : &kind->out[0];
    if (flow->x->is_absent || flow->x->rank < pattern->min_rank || flow->x->rank < 1) return false;
    if (last_axis(flow->x) < pattern->min_axis || flow->x->count == 0) return false;
    if (pattern->max_rank && flow->x->rank > pattern->max_rank) return false;
    if (pattern->traffic.heads == 0) return true;
    if (kind->in_count < 2 || kind->out_count < 1) return false;
    flow->heads = by_input ? &kind->out[0] : &kind->in[0];
    flow->keys = &kind->in[1];
    return true;
}

static bool begin(Flow *flow, const ProfKind *kind) {
    if (!set_x(flow, kind)) return false;
    for (uint32_t i = 0; i < flow->pattern->node_count; i++) {
        flow->takes_store |= (flow->pattern->nodes[i].in[0] & SHAPE_STORE) != 0;
    }
    int n = find_node(flow, kind, NODE_START, NODE_OPTIONAL);
    if (n < 0) n = find_node(flow, kind, NODE_START, 0);
    if (n < 0) return false;
    take(flow, (uint32_t)n, 0);
    return true;
}

bool match_may_start(const Pattern *pattern, const ProfKind *kind) {
    uint32_t id = 0;
    MatchView view = {kind, &id, 1, true};
    Flow flow = {.pattern = pattern, .view = &view};
    return begin(&flow, kind);
}

// The node that the kernel is: what must come before what may. Behind the last
// kernel that must come only the tail may.
static int choose_node(const Flow *flow, const ProfKind *kind, bool complete) {
    if (complete) return find_node(flow, kind, NODE_TAIL, 0);
    int n = find_node(flow, kind, 0, NODE_OPTIONAL);
    return n >= 0 ? n : find_node(flow, kind, NODE_OPTIONAL, 0);
}

static bool has_open_tail(const Flow *flow) {
    for (uint32_t n = 0; n < flow->pattern->node_count; n++) {
        uint32_t flags = flow->pattern->nodes[n].flags;
        bool open = !(flow->done & (1u << n)) || (flags & NODE_MANY);
        if ((flags & NODE_TAIL) && open) return true;
    }
    return false;
}

// Whether the kernel casts what another kernel made, or its like, and in which dtype.
static bool casts_on(const ProfKind *from, const ProfKind *kind) {
    return kind->op == OP_CAST && kind->in_count && kind->out_count && from->out_count &&
           kind->in[0].dtype == from->out[0].dtype && kind->in[0].count == from->out[0].count;
}

// The next kernel from `i` on that is no fill; `limit` if there is none.
static uint32_t skip_fills(const MatchView *view, uint32_t i, uint32_t limit) {
    while (i < limit && view->kinds[view->ids[i]].op == OP_FILL) i++;
    return i;
}

// Behind a cast back: there and back again is for nothing, and belongs to the run. If
// another cast follows, the first of them may as well begin what comes next.
static void take_round_trips(Flow *flow, uint32_t limit) {
    const MatchView *view = flow->view;
    const ProfKind *made = flow->before, *last = made;
    uint32_t end = flow->match.length, seen = skip_fills(view, end, limit);
    while (last->op == OP_CAST && seen < limit) {
        const ProfKind *kind = &view->kinds[view->ids[seen]];
        if (!casts_on(last, kind)) break;
        last = kind;
        if (kind->out[0].dtype == made->out[0].dtype) end = seen + 1;
        seen = skip_fills(view, seen + 1, limit);
    }
    seen = seen < limit ? seen + 1 : limit;
    if (made->op == OP_CAST && seen > flow->match.seen) flow->match.seen = (uint8_t)seen;
    if (last->op != OP_CAST || last->out[0].dtype != made->out[0].dtype) return;
    for (uint32_t i = flow->match.length; i < end; i++) flow->match.members |= UINT64_C(1) << i;
    flow->match.length = (uint8_t)end;
}

static void follow(Flow *flow) {
    const MatchView *view = flow->view;
    uint32_t limit = view->count < MATCH_WINDOW ? view->count : MATCH_WINDOW;
    uint32_t i = 1, between = 0;
    uint64_t pending = 0; // casts and the like: of the run once it goes on
    while (i < limit && between <= MAX_BETWEEN) {
        bool complete = is_complete(flow);
        if (complete && !has_open_tail(flow)) break;
        const ProfKind *kind = &view->kinds[view->ids[i++]];
        int n = choose_node(flow, kind, complete);
        if (n >= 0) {
            take(flow, (uint32_t)n, i - 1);
            flow->match.members |= pending;
            pending = between = 0;
            continue;
        }
        // Behind a product it is the other factor's.
        if (passes(flow, kind)) pending |= flow->is_far ? 0 : UINT64_C(1) << (i - 1);
        else if (complete || !passes_far(flow, kind)) between = MAX_BETWEEN;
        between++;
    }
    flow->ran_out = i == view->count && between <= MAX_BETWEEN && has_open_tail(flow);
    flow->match.seen = (uint8_t)i;
    if (is_complete(flow)) take_round_trips(flow, limit);
}

// Whether a node makes or takes a tensor twice as large as X.
static bool has_double(const PatternNode *node) {
    return (node->out | node->in[0] | node->in[1]) & SHAPE_DOUBLE;
}

static bool uses_double(const Pattern *pattern) {
    for (uint32_t n = 0; n < pattern->node_count; n++) {
        if (has_double(&pattern->nodes[n])) return true;
    }
    return false;
}

// A run that reaches the last kernel of the profile may have been cut there. Nodes with
// a double tensor are left out where `singly`. Tails come in their order.
static bool may_go_on(const Flow *flow, bool singly) {
    const ProfKind *last = &flow->view->kinds[flow->view->ids[flow->match.length - 1]];
    bool wide = last->out_count && last->out[0].dtype == DT_FP32;
    for (uint32_t n = flow->last + 1; n < flow->pattern->node_count; n++) {
        uint32_t flags = flow->pattern->nodes[n].flags;
        if (!(flags & NODE_TAIL) || (flow->done & (1u << n))) continue;
        if (singly && has_double(&flow->pattern->nodes[n])) continue;
        if (!(flags & NODE_NARROW) || (wide && flow->narrow != DT_NONE)) return true;
    }
    return false;
}

static double size_of(const ProfTensor *t, ProfDtype dtype) {
    return (double)t->count * prof_dtype_bytes(dtype ? dtype : (ProfDtype)t->dtype);
}

// The bytes of the lists that the last kernel, and its like for other lists, made.
static double list_bytes(const Flow *flow) {
    double bytes = 0;
    for (uint32_t i = 0; i < flow->match.length; i++) {
        const ProfKind *kind = &flow->view->kinds[flow->view->ids[i]];
        if (!(flow->match.members >> i & 1) || kind->op != flow->before->op) continue;
        for (uint32_t o = 0; o < kind->out_count; o++) {
            bytes += (double)prof_tensor_bytes(&kind->out[o]);
        }
    }
    return bytes;
}

// What the run moves, and what one kernel in its place still would.
static void weigh(Flow *flow) {
    const PatternTraffic *traffic = &flow->pattern->traffic;
    Match *match = &flow->match;
    for (uint32_t i = 0; i < match->length; i++) {
        if (!(match->members >> i & 1)) continue;
        const ProfKind *kind = &flow->view->kinds[flow->view->ids[i]];
        match->bytes += (double)kind->bytes;
        match->flops += kind->flops;
    }
    double x = flow->pattern->is_list ? list_bytes(flow) : size_of(flow->x, flow->narrow);
    match->x_bytes = x;
    match->x_count = flow->x->count;
    match->external_bytes = traffic->x * x + traffic->last * x / (double)flow->x->count *
                                                 (double)last_axis(flow->x);
    if (flow->before && flow->before->out_count) {
        match->external_bytes += traffic->made * size_of(&flow->before->out[0], DT_NONE);
    }
    if (flow->table) match->external_bytes += traffic->table * size_of(flow->table, DT_NONE);
    if (!traffic->heads) return;
    double keys = flow->keys ? size_of(flow->keys, DT_NONE) : 0;
    match->external_bytes += traffic->heads / 2.0 * (size_of(flow->heads, DT_NONE) + keys);
}

static uint32_t count_op(const Flow *flow, uint32_t op) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < flow->match.length; i++) {
        count += flow->match.members >> i & 1 && flow->view->kinds[flow->view->ids[i]].op == op;
    }
    return count;
}

// Whether what follows says that the run is of another algorithm: a second quotient is added,
// as NAdam does. Of lists there are as many quotients as roots.
static bool is_another(Flow *flow) {
    const Pattern *pattern = flow->pattern;
    const MatchView *view = flow->view;
    if (!pattern->not_behind) return false;
    if (pattern->is_list) {
        uint32_t quotients = count_op(flow, OP_FOREACH | pattern->not_behind);
        return quotients > count_op(flow, OP_FOREACH | OP_SQRT);
    }
    uint32_t i = skip_fills(view, flow->match.length, view->count);
    if (i + 1 > flow->match.seen) flow->match.seen = (uint8_t)(i + 1);
    if (i >= view->count) return false;
    const ProfKind *kind = &view->kinds[view->ids[i]];
    return kind->op == pattern->not_behind && kind->out_count &&
           kind->out[0].count == flow->x->count;
}

bool match_pattern(Match *out, const Pattern *pattern, const MatchView *view) {
    Flow flow = {.pattern = pattern, .view = view, .match = {.seen = 1}};
    bool found = view->count && begin(&flow, &view->kinds[view->ids[0]]);
    if (found) follow(&flow);
    bool complete = found && is_complete(&flow) && !is_another(&flow) &&
                    flow.match.length + pattern->behind <= view->count;
    if (found && pattern->behind) {
        uint32_t seen = flow.match.length + pattern->behind;
        if (seen > flow.match.seen) flow.match.seen = (uint8_t)seen;
    }
    if (complete) {
        weigh(&flow);
        flow.match.pattern = pattern;
        bool open = flow.ran_out && !pattern->without_outputs;
        flow.match.may_be_cut = open && may_go_on(&flow, false);
        flow.match.lacks_double = open && !may_go_on(&flow, true);
        flow.match.is_double = uses_double(pattern);
    }
    *out = flow.match;
    return complete;
}
