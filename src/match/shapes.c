// shapes.c - what views and elementwise operators do to a shape.
#include "base/base.h"

#include "match/shapes.h"

enum { CHOICES_MAX = 4 }; // one within another

Val *shape_root(Val *v) {
    for (int depth = 0; depth < 64; depth++) {
        switch ((int)v->op) {
        case V_CAST: case OP_NEG: case OP_SILU: case OP_SIGMOID: case OP_TANH:
        case OP_RELU: case OP_GELU: case OP_ABS: case OP_CLAMP: case OP_DROPOUT:
        case OP_CONTIGUOUS: case OP_CLONE: case OP_DETACH: case OP_POW:
        case OP_SQRT: case OP_RSQRT: case OP_EXP: case OP_SOFTMAX: case OP_LOG_SOFTMAX:
        case OP_COS: case OP_SIN: case OP_LAYER_NORM: case OP_RMS_NORM: case OP_NORMALIZE:
            v = v->args[0];
            break;
        default:
            return v;
        }
    }
    return v;
}

bool adds_axis(const Val *v) {
    if (v->op == OP_UNSQUEEZE) return true;
    if (v->op != V_ITEM) return false;
    const Val *index = v->args[1];
    if (val_is_none(index)) return true;
    for (uint32_t i = 0; index->op == V_TUPLE && i < index->nargs; i++) {
        if (val_is_none(index->args[i])) return true;
    }
    return false;
}

bool reduces(const Val *v) {
    switch ((int)v->op) {
    case OP_MEAN: case OP_SUM: case OP_VAR: case OP_STD: case OP_AMAX: return true;
    default: break;
    }
    for (uint32_t i = 1; v->op == V_CALL && i < v->nargs; i++) {
        const Val *arg = v->args[i];
        if (arg->op == V_KEYWORD && arg->name && val_truth(arg->args[0]) == 1 &&
            (str_is(sym_str(arg->name), "keepdim") || str_is(sym_str(arg->name), "keepdims"))) {
            return true;
        }
    }
    return false;
}

static bool slice_is_one(const Val *slice) {
    if (slice->op != V_SLICE) return false;
    const Val *low = slice->args[0], *high = slice->args[1];
    double first = val_is_number(low) ? low->num : 0;
    if (!val_is_none(low) && !val_is_number(low)) return false;
    if (val_is_none(high)) return first == -1;
    return val_is_number(high) && high->num == first + 1;
}

bool one_wide(const Val *v) {
    if (v->op != V_ITEM) return false;
    const Val *index = v->args[1];
    if (slice_is_one(index)) return true;
    for (uint32_t i = 0; index->op == V_TUPLE && i < index->nargs; i++) {
        if (slice_is_one(index->args[i])) return true;
    }
    return false;
}

static void peel(Val **a, Val **b, int choices);

// cos = cos.view(sizes) and sin = sin.view(sizes) under one `if`: both arms come down to
// the same two, or to equal ones.
static bool peel_choice(Val **a, Val **b, int choices) {
    const Val *x = *a, *y = *b;
    if (choices == CHOICES_MAX || x->args[0] != y->args[0]) return false;
    Val *p = x->args[1], *q = y->args[1], *r = x->args[2], *s = y->args[2];
    peel(&p, &q, choices + 1);
    peel(&r, &s, choices + 1);
    bool same = p == r && q == s, equal = p == q && r == s;
    if (!same && !equal) return false;
    *a = p;
    *b = q;
    return true;
}

// Sizes that are one number where the two that are left have one shape: size(cos, 0)
// beside size(sin, 0).
static bool sizes_alike(Val *x, Val *y, const Val *a, const Val *b, int choices) {
    if (x == y) return true;
    if (choices == CHOICES_MAX || x->op != y->op || x->nargs != y->nargs) return false;
    if (x->op == V_SIZE) {
        Val *p = x->args[0], *q = y->args[0];
        if (x->args[1] != y->args[1]) return false;
        peel(&p, &q, choices + 1);
        return p == q || (p == a && q == b);
    }
    if (x->op != V_TUPLE && x->op != V_LIST) return false;
    for (uint32_t i = 0; i < x->nargs; i++) {
        if (!sizes_alike(x->args[i], y->args[i], a, b, choices + 1)) return false;
    }
    return true;
}

// x.repeat(1, 2): the shape follows from that of x and from the other arguments.
static bool is_repeat(const Val *v) {
    if (v->op != V_CALL || v->args[0]->op != V_ATTR) return false;
    Str name = sym_str(v->args[0]->name);
    return str_is(name, "repeat") || str_is(name, "tile") || str_is(name, "roll") ||
           str_is(name, "flip");
}

// cos * scale, sin * scale: the two that are not common; false if there is no common one.
static bool peel_product(Val **a, Val **b, int choices) {
    Val *const *x = (*a)->args, *const *y = (*b)->args;
    for (int i = 0; i < 2 && choices < CHOICES_MAX; i++) {
        for (int k = 0; k < 2; k++) {
            if (x[i] != y[k]) continue;
            Val *p = x[1 - i], *q = y[1 - k];
            peel(&p, &q, choices + 1);
            bool given = p->op == q->op && (p->op == V_PARAM || p->op == V_ATTR ||
                                            p->op == V_ITEM);
            if (p != q && !given) continue;
            *a = p;
            *b = q;
            return true;
        }
    }
    return false;
}

// What the two are views of, made alike; false if they are none.
static bool below_views(Val **a, Val **b) {
    const Val *x = *a, *y = *b;
    Val *const *p = x->args, *const *q = y->args;
    if (x->op == OP_WEAVE || x->op == OP_CAT) { // of one tensor
        bool doubled = p[0]->op == V_TUPLE && q[0]->op == V_TUPLE && p[0]->nargs == 2 &&
                       q[0]->nargs == 2 && p[0]->args[0] == p[0]->args[1] &&
                       q[0]->args[0] == q[0]->args[1];
        if (!doubled) return false;
        *a = p[0]->args[0];
        *b = q[0]->args[0];
        return true;
    }
    if (is_repeat(x) && is_repeat(y) && p[0]->name == q[0]->name) {
        *a = p[0]->args[0];
        *b = q[0]->args[0];
        return true;
    }
    switch ((int)x->op) {
    case V_ITEM: case V_PART: case OP_STRIDED: case OP_UNSQUEEZE: case OP_SQUEEZE:
    case OP_TRANSPOSE: case OP_VIEW: case OP_EXPAND: case OP_REPEAT_INTERLEAVE:
    case OP_PERMUTE: case OP_UNFLATTEN: case OP_FLATTEN:
        *a = p[0];
        *b = q[0];
        return true;
    default:
        return false;
    }
}

static bool same_rest(const Val *x, const Val *y) {
    for (uint32_t i = 1; i < x->nargs; i++) {
        if (x->args[i] != y->args[i]) return false;
    }
    return true;
}

static void peel(Val **a, Val **b, int choices) {
    for (int depth = 0; depth < 64; depth++) {
        Val *x = *a = shape_root(*a), *y = *b = shape_root(*b);
        if (x->op == V_PHI && y->op == V_PHI && peel_choice(a, b, choices)) return;
        if (x == y || x->op != y->op || x->nargs != y->nargs || x->nargs == 0) return;
        if (x->op == OP_MUL && peel_product(a, b, choices)) return;
        Val *p = x, *q = y;
        if (!below_views(&p, &q)) return;
        if (!same_rest(x, y)) {
            if (choices == CHOICES_MAX) return;
            peel(&p, &q, choices + 1);
            for (uint32_t i = 1; i < x->nargs; i++) {
                if (!sizes_alike(x->args[i], y->args[i], p, q, choices + 1)) return;
            }
        }
        *a = p;
        *b = q;
    }
}

void peel_alike(Val **a, Val **b) {
    peel(a, b, 0);
}

// The size of one of x.split([h, 2 * h], -1), or NULL.
static const Val *split_size(const Val *v) {
    const Val *split = v->op == V_ITEM ? v->args[0] : NULL;
    if (!split || split->op != OP_SPLIT || !val_is_number(v->args[1])) return NULL;
    const Val *sizes = split->args[1];
    bool listed = sizes->op == V_LIST || sizes->op == V_TUPLE;
    double at = v->args[1]->num;
    return listed && at >= 0 && at < sizes->nargs ? sizes->args[(uint32_t)at] : NULL;
}

// h and 2 * h, 1 and 3
static bool sizes_differ(const Val *a, const Val *b) {
    if (val_is_number(a) && val_is_number(b)) return a->num != b->num;
    for (int i = 0; i < 2; i++) {
        const Val *product = i ? a : b, *factor = i ? b : a;
        if (product->op != OP_MUL) continue;
        bool first = product->args[0] == factor && val_is_number(product->args[1]);
        if (first || (product->args[1] == factor && val_is_number(product->args[0]))) return true;
    }
    return false;
}

PartSizes compare_parts(const Val *a, const Val *b) {
    if (a->op == OP_NARROW && b->op == OP_NARROW && a->args[0] == b->args[0] &&
        a->args[1] == b->args[1] && a->args[3] == b->args[3]) {
        return PARTS_AS_LONG;
    }
    const Val *one = split_size(a), *other = split_size(b);
    if (!one || !other || a->args[0] != b->args[0]) return PARTS_NONE;
    if (one == other) return PARTS_AS_LONG;
    return sizes_differ(one, other) ? PARTS_DIFFER : PARTS_OPEN;
}
