// dtype.c - the dtype calculus.
//
// A join (promotion) is a set of dtypes: it is flattened, sorted by creation
// order and loses what float32 absorbs, so that equal joins are one Val.
#include "base/base.h"

#include "flow/dtype.h"

#include "flow/changes.h"

enum {
    DTYPE_MAX_DEPTH = 40, JOIN_MAX = 8, STEPS_MAX = 4000, SCALAR_STEPS_MAX = 200,
    FILE_STEPS_MAX = 500 * 1000, // of all questions in a file; then dtypes are not known
};

typedef struct Calc {
    Flow *flow;
    Scalars scalars;
    uint32_t steps; // values share their parts: bounds walks that visit them again
} Calc;

static Val *dtype(Calc *c, Val *v, int depth);

// ---- numbers ------------------------------------------------------------------------

static bool annotated_number(const Val *param) {
    const Node *a = param->node ? param->node->u.arg.annotation : NULL;
    if (!a || a->kind != N_NAME) return false;
    Str name = sym_str(a->u.name.id);
    return str_is(name, "float") || str_is(name, "int");
}

static bool is_number(Flow *flow, Val *v, const Scalars *scalars, uint32_t *steps) {
    if (++*steps > SCALAR_STEPS_MAX) return false;
    for (uint32_t i = 0; i < scalars->len; i++) {
        if (scalars->at[i] == v) return true;
    }
    switch ((int)v->op) {
    case V_CONST: case V_SIZE: case OP_NUMEL: case OP_NDIM: return true;
    case V_PARAM: return annotated_number(v);
    case V_ATTR: {
        const Def *def = object_class(v->args[0]);
        Val *source = def ? object_attr(flow, v->args[0], v->name) : NULL;
        bool number = source && source->op == V_PARAM && annotated_number(source);
        if (!number) {
            Resolved r = flow_resolve(flow, v);
            number = r.val && val_is_number(r.val);
        }
        // Another method or a subclass may store a tensor.
        return number && (!def || attr_change(flow, def, v->name) == ATTR_KEPT);
    }
    case OP_MUL: case OP_ADD: case OP_POW:
        return is_number(flow, v->args[0], scalars, steps) &&
               is_number(flow, v->args[1], scalars, steps);
    case OP_NEG: case OP_SQRT: case OP_RSQRT: case OP_RECIPROCAL:
        return is_number(flow, v->args[0], scalars, steps);
    default: return false;
    }
}

bool is_scalar(Flow *flow, Val *v, Scalars scalars) {
    uint32_t steps = 0;
    return is_number(flow, v, &scalars, &steps);
}

// ---- joins --------------------------------------------------------------------------

typedef struct Join {
    Val *at[JOIN_MAX];
    uint32_t len;
} Join;

static void add_to_join(Join *join, Val *d) {
    if (d->op == V_PROMOTE) {
        for (uint32_t i = 0; i < d->nargs; i++) add_to_join(join, d->args[i]);
        return;
    }
    for (uint32_t i = 0; i < join->len; i++) {
        if (join->at[i] == d) return;
    }
    if (join->len < JOIN_MAX) join->at[join->len++] = d;
}

static void sort_join(Join *join) {
    for (uint32_t i = 1; i < join->len; i++) {
        for (uint32_t k = i; k > 0 && join->at[k]->id < join->at[k - 1]->id; k--) {
            Val *swap = join->at[k];
            join->at[k] = join->at[k - 1];
            join->at[k - 1] = swap;
        }
    }
}

// float32 absorbs the halves.
static void absorb(Join *join) {
    bool wide = false;
    for (uint32_t i = 0; i < join->len; i++) {
        wide |= val_is_global(join->at[i], "torch.float32") ||
                val_is_global(join->at[i], "torch.float64");
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < join->len; i++) {
        bool half = val_is_global(join->at[i], "torch.float16") ||
                    val_is_global(join->at[i], "torch.bfloat16");
        if (!wide || !half) join->at[kept++] = join->at[i];
    }
    join->len = kept;
}

// promote(autocast(d, e), f)  ->  autocast(promote(d, f), promote(e, f))
// promote(phi(c, d, e), f)    ->  phi(c, promote(d, f), promote(e, f))
static Val *promote(Calc *c, Val *a, Val *b, int depth) {
    Graph *g = &c->flow->graph;
    if (a == b) return a;
    if (depth > 8 || ++c->steps > STEPS_MAX) return val_unique(g, V_OPAQUE, NULL, 0);
    for (int i = 0; i < 2; i++) {
        Val *x = i ? b : a, *y = i ? a : b;
        if (x->op == V_AUTOCAST) {
            bool both = y->op == V_AUTOCAST;
            Val *on = promote(c, x->args[0], both ? y->args[0] : y, depth + 1);
            Val *off = promote(c, x->args[1], both ? y->args[1] : y, depth + 1);
            return on == off ? on : val_new2(g, V_AUTOCAST, on, off);
        }
        if (x->op == V_PHI) {
            Val *t = promote(c, x->args[1], y, depth + 1);
            Val *e = promote(c, x->args[2], y, depth + 1);
            return t == e ? t : val_new3(g, V_PHI, x->args[0], t, e);
        }
    }
    Join join = {0};
    add_to_join(&join, a);
    add_to_join(&join, b);
    absorb(&join);
    sort_join(&join);
    if (join.len == 1) return join.at[0];
    return val_new(g, V_PROMOTE, join.at, join.len);
}

static Val *promote_args(Calc *c, Val *v, int depth) {
    Val *joined = NULL;
    for (uint32_t i = 0; i < v->nargs; i++) {
        if (is_scalar(c->flow, v->args[i], c->scalars)) continue;
        Val *d = dtype(c, v->args[i], depth + 1);
        joined = joined ? promote(c, joined, d, 0) : d;
    }
    return joined ? joined : val_new1(&c->flow->graph, V_DTYPE, v);
}

// ---- autocast -------------------------------------------------------------------------

// x * x and x / y are spelled with operators that autocast leaves alone;
// c / x is a reciprocal, which it does not.
static bool spelled_plainly(const Val *v) {
    const Node *n = v->node;
    // Of x / sqrt(y), torch.div(x, y): no node of its own.
    if (!n) return v->op == OP_RSQRT || v->op == OP_RECIPROCAL;
    if (n->kind != N_BIN_OP) return false;
    if (n->op == A_MULT) return true;
    return n->op == A_DIV && n->u.bin.left->kind != N_CONSTANT;
}

// The NPU's (and CUDA's) float32 list.
static bool autocast_float32(const Val *v) {
    switch ((int)v->op) {
    case OP_POW: case OP_RSQRT: case OP_RECIPROCAL: case OP_EXP: case OP_LOG:
    case OP_SUM: case OP_SOFTMAX: case OP_LOG_SOFTMAX: case OP_NORM: case OP_LAYER_NORM:
    case OP_GROUP_NORM: case OP_NORMALIZE:
        return !spelled_plainly(v);
    default:
        return false;
    }
}

static Val *under_autocast(Calc *c, Val *d) {
    Graph *g = &c->flow->graph;
    Val *wide = val_global(g, STR("torch.float32"));
    Val *off = d->op == V_AUTOCAST ? d->args[1] : d;
    return off == wide ? wide : val_new2(g, V_AUTOCAST, wide, off);
}

static Val *dtype_of_cast(Calc *c, Val *v, int depth) {
    Val *d = v->args[1];
    if (d->op == V_DTYPE) return dtype(c, d->args[0], depth + 1);
    if (val_is_floating_dtype(d)) return d;
    if (d->op == V_PHI) {
        Val *parts[2];
        for (int i = 0; i < 2; i++) {
            Val *side = d->args[1 + i];
            bool known = side->op == V_DTYPE || val_is_floating_dtype(side);
            if (!known) return val_new1(&c->flow->graph, V_DTYPE, v);
            parts[i] = side->op == V_DTYPE ? dtype(c, side->args[0], depth + 1) : side;
        }
        return parts[0] == parts[1] ? parts[0]
            : val_new3(&c->flow->graph, V_PHI, d->args[0], parts[0], parts[1]);
    }
    return val_new1(&c->flow->graph, V_DTYPE, v);
}

// A complex number counts as the dtype of its parts: in a product of complex
// numbers that of the one that was made of a real tensor here, which is the
// wider one if the other is complex64 (a rule has to ask for that).
static Val *dtype_of_complex(Calc *c, Val *v, int depth) {
    for (int i = 0; i < 2; i++) {
        bool made = v->args[i]->op == OP_VIEW_AS_COMPLEX || v->args[i]->op == OP_COMPLEX;
        if (made) return dtype(c, v->args[i], depth + 1);
    }
    return NULL;
}

// 1 + w has the dtype of w, where that is a floating one.
static const Val *below_number(const Val *v) {
    for (int i = 0; v->op == OP_ADD && v->nargs == 2 && i < 2; i++) {
        if (val_is_number(v->args[i])) return v->args[1 - i];
    }
    return v;
}

static bool is_leaf(const Calc *c, const Val *v) {
    for (uint32_t i = 0; i < c->scalars.leaf_count; i++) {
        if (c->scalars.leaves[i] == v) return true;
    }
    return false;
}

// A part of a tensor has its dtype; what autocast computes has its first operand's while
// it is off.
static bool keeps_dtype(const Calc *c, const Val *v) {
    return v->op == V_ITEM ? item_has_dtype(v) : c->scalars.no_autocast;
}

static Val *dtype(Calc *c, Val *v, int depth) {
    Graph *g = &c->flow->graph;
    if (depth > DTYPE_MAX_DEPTH || ++c->steps > STEPS_MAX) return val_new1(g, V_DTYPE, v);
    if (is_leaf(c, v)) return val_new1(g, V_DTYPE, v);
    Val *d;
    switch ((int)v->op) {
    case V_CAST: return dtype_of_cast(c, v, depth);
    case OP_SOFTMAX: case OP_LOG_SOFTMAX:
        if (v->nargs > 2 && val_is_floating_dtype(v->args[2])) return v->args[2];
        d = dtype(c, v->args[0], depth + 1);
        break;
    case OP_MUL:
        d = dtype_of_complex(c, v, depth);
        if (!d) d = promote_args(c, v, depth);
        break;
    case V_ATTR: // z.real
        d = v->name == c->flow->names.real || v->name == c->flow->names.imag ? v->args[0] : NULL;
        if (d) d = d->op == OP_MUL ? dtype_of_complex(c, d, depth) : NULL;
        return d ? d : op_dtype(c->flow, v);
    case OP_ADD: case OP_POW: case OP_COMPLEX: case OP_CAT: case OP_WEAVE: case OP_STACK:
    case OP_MAXIMUM: case OP_MINIMUM:
        d = promote_args(c, v, depth);
        break;
    case V_TUPLE: case V_LIST:
        return promote_args(c, v, depth);
    case OP_NEG: case OP_SQRT: case OP_RSQRT: case OP_RECIPROCAL: case OP_EXP:
    case OP_LOG: case OP_SIGMOID: case OP_SILU: case OP_TANH: case OP_ERF: case OP_RELU:
    case OP_GELU: case OP_ABS: case OP_MEAN: case OP_SUM: case OP_CLAMP:
    case OP_NORM: case OP_NORMALIZE: case OP_CONTIGUOUS:
    case V_PART: case OP_VIEW: case OP_TRANSPOSE: case OP_PERMUTE:
    case OP_UNSQUEEZE: case OP_SQUEEZE: case OP_EXPAND: case OP_CLONE:
    case OP_FLATTEN: case OP_UNFLATTEN: case OP_DROPOUT: case OP_PARAMETER:
    case OP_LAYER_NORM: case OP_GROUP_NORM: case OP_MASKED_FILL:
    case OP_SELECT: case OP_NARROW: case OP_STRIDED: case OP_VIEW_AS_COMPLEX: case OP_VIEW_AS_REAL:
        d = dtype(c, v->args[0], depth + 1);
        break;
    case OP_MATMUL: case OP_REPEAT_INTERLEAVE: case V_ITEM:
        if (!keeps_dtype(c, v)) return op_dtype(c->flow, v);
        d = dtype(c, v->args[0], depth + 1);
        break;
    case OP_RMS_NORM:
        // Where the weight has another dtype, releases of torch differ; the guard
        // of a rule that binds it asks for the input's.
        d = dtype(c, v->args[0], depth + 1);
        if (!val_is_none(v->args[2]) && !is_leaf(c, below_number(v->args[2])) &&
            dtype(c, v->args[2], depth + 1) != d) {
            return val_new1(g, V_DTYPE, v);
        }
        break;
    case V_PHI: {
        Val *a = dtype(c, v->args[1], depth + 1);
        Val *b = dtype(c, v->args[2], depth + 1);
        return a == b ? a : val_new3(g, V_PHI, v->args[0], a, b);
    }
    default: return op_dtype(c->flow, v);
    }
    bool wide = !c->scalars.no_autocast && autocast_float32(v);
    return wide ? under_autocast(c, d) : d;
}

Val *dtype_of(Flow *flow, Val *v, Scalars scalars) {
    Calc c = {flow, scalars, 0};
    if (flow->dtype_steps > FILE_STEPS_MAX) return val_new1(&flow->graph, V_DTYPE, v);
    Val *d = dtype(&c, v, 0);
    flow->dtype_steps += c.steps;
    return d;
}

bool dtype_gave_up(const Flow *flow) {
    return flow->dtype_steps > FILE_STEPS_MAX;
}
