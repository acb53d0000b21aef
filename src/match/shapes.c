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
        case OP_SQRT: case OP_RSQRT: case OP_EXP: case OP_SOFTMAX: case OP_COS: case OP_SIN:
        case OP_LAYER_NORM: case OP_RMS_NORM: case OP_NORMALIZE:
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

static void peel(Val **a, Val **b, int choices) {
    for (int depth = 0; depth < 64; depth++) {
        Val *x = *a = shape_root(*a), *y = *b = shape_root(*b);
        if (x->op == V_PHI && y->op == V_PHI && peel_choice(a, b, choices)) return;
        if (x == y || x->op != y->op || x->nargs != y->nargs || x->nargs == 0) return;
        bool view = x->op == V_ITEM || x->op == V_PART || x->op == OP_STRIDED ||
                    x->op == OP_UNSQUEEZE || x->op == OP_SQUEEZE || x->op == OP_TRANSPOSE ||
                    x->op == OP_VIEW || x->op == OP_EXPAND || x->op == OP_REPEAT_INTERLEAVE ||
                    x->op == OP_PERMUTE || x->op == OP_UNFLATTEN || x->op == OP_FLATTEN;
        bool doubled = x->op == OP_WEAVE || x->op == OP_CAT; // of one tensor
        Val *const *p = x->args, *const *q = y->args;
        if (doubled) {
            doubled = p[0]->op == V_TUPLE && q[0]->op == V_TUPLE && p[0]->nargs == 2 &&
                      q[0]->nargs == 2 && p[0]->args[0] == p[0]->args[1] &&
                      q[0]->args[0] == q[0]->args[1];
        }
        if (!view && !doubled) return;
        for (uint32_t i = 1; i < x->nargs; i++) {
            if (x->args[i] != y->args[i]) return;
        }
        *a = doubled ? p[0]->args[0] : p[0];
        *b = doubled ? q[0]->args[0] : q[0];
    }
}

void peel_alike(Val **a, Val **b) {
    peel(a, b, 0);
}
