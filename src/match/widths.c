// widths.c - the length of a tensor's last axis, and tests of it as arithmetic.
#include "base/base.h"

#include "match/widths.h"

#include "match/caller.h"

enum { WIDTH_DEPTH = 24, TEST_DEPTH = 12 };

typedef enum Ground { GROUND_NONE, GROUND_WRITTEN, GROUND_CALL, GROUND_DEFAULT } Ground;

typedef struct Width {
    double num;
    Ground ground; // the weakest step on the way; GROUND_NONE: the width is not known
    ChainLink *chain;
} Width;

typedef struct WidthSearch {
    Frame *frame;
    bool called; // a call of the function was followed
} WidthSearch;

// ---- the width of a value ---------------------------------------------------------

static Width width_of(WidthSearch *s, Val *v, int depth);

static Width number_width(WidthSearch *s, Val *size) {
    Flow *flow = s->frame->flow;
    Ground written = s->called ? GROUND_CALL : GROUND_WRITTEN;
    if (val_is_number(size)) {
        return size->num > 0 ? (Width){size->num, written, NULL} : (Width){0};
    }
    bool named = size->op == V_ATTR || size->op == V_PARAM;
    Resolved r = named ? flow_resolve(flow, size) : (Resolved){0};
    if (!r.val || !val_is_number(r.val) || r.val->num <= 0) return (Width){0};
    return (Width){r.val->num, GROUND_DEFAULT, r.chain};
}

// Whether the last of `rank` axes stays the last.
static bool keeps_last(const Val *v) {
    Val *below = val_strip(v->args[0]);
    double last = below->op == OP_VIEW ? (double)below->args[1]->nargs - 1 : -1;
    bool star = below->op == OP_VIEW && below->args[1]->nargs &&
                below->args[1]->args[0]->op == V_STAR;
    for (int i = 1; i <= 2; i++) {
        const Val *axis = v->args[i];
        if (!val_is_number(axis) || axis->num == -1) return false;
        if (axis->num < 0) continue;
        if (last < 0 || (!star && axis->num >= last)) return false;
        // (*lead, n, d) has four axes where there are a batch and a length: enough for
        // what is said, not for a proof.
        const Val *shape = below->args[1];
        if (star && (axis->num > 2 || val_is_number(shape->args[shape->nargs - 1]))) return false;
    }
    return true;
}

// x[..., :d]
static Width slice_width(WidthSearch *s, const Val *v) {
    const Val *index = v->args[1];
    if (index->op != V_TUPLE || index->nargs != 2 || index->args[1]->op != V_SLICE) {
        return (Width){0};
    }
    const Val *cut = index->args[1];
    bool start = val_is_none(cut->args[0]) || val_is_int(cut->args[0], 0);
    bool whole = start && val_is_none(cut->args[2]) && !val_is_none(cut->args[1]);
    bool ellipsis = val_is_ellipsis(index->args[0]);
    return whole && ellipsis ? number_width(s, cut->args[1]) : (Width){0};
}

static Width param_width(WidthSearch *s, Val *v, int depth) {
    CallSite site = s->called ? (CallSite){0} : find_argument(s->frame, v);
    if (!site.arg) return (Width){0};
    s->called = true;
    return width_of(s, site.arg, depth + 1);
}

static Width part_width(WidthSearch *s, const Val *v, int depth) {
    if (!val_is_int(v->args[1], -1) || !val_is_number(v->args[3])) return (Width){0};
    Width whole = width_of(s, v->args[0], depth + 1);
    whole.num /= v->args[3]->num;
    return whole;
}

// Of a sum or product the operand that is more than one wide.
static Width pair_width(WidthSearch *s, const Val *v, int depth) {
    for (uint32_t i = 0; i < 2; i++) {
        Width w = width_of(s, v->args[i], depth + 1);
        if (w.ground != GROUND_NONE && w.num > 1) return w;
    }
    return (Width){0};
}

static Width width_of(WidthSearch *s, Val *v, int depth) {
    v = val_strip(v);
    if (depth > WIDTH_DEPTH) return (Width){0};
    switch ((int)v->op) {
    case OP_VIEW: {
        const Val *shape = v->args[1];
        Val *last = shape->nargs ? shape->args[shape->nargs - 1] : NULL;
        return last && last->op != V_STAR ? number_width(s, last) : (Width){0};
    }
    case OP_TRANSPOSE:
        return keeps_last(v) ? width_of(s, v->args[0], depth + 1) : (Width){0};
    case OP_ADD: case OP_MUL: return pair_width(s, v, depth);
    case V_PART: return part_width(s, v, depth);
    case V_ITEM: return slice_width(s, v);
    case V_PARAM: return param_width(s, v, depth);
    case OP_NEG: case OP_SILU: case OP_GELU: case OP_CONTIGUOUS: case OP_CLONE: case OP_DETACH:
    case OP_DROPOUT: case OP_CLAMP:
        return width_of(s, v->args[0], depth + 1);
    default: return (Width){0};
    }
}

// ---- tests as arithmetic -------------------------------------------------------------

typedef struct Test {
    const Requirement *r;
    const Place *place;
    double element; // bytes of an element that are tried
    Width used;     // the width that the test rests on
} Test;

static Val *param_of(const Test *t, const Node *node) {
    int i = node->kind == N_NAME ? requirement_param(t->r, node->u.name.id) : -1;
    return i < 0 ? NULL : t->place->match->bound[i];
}

static bool is_last(const Node *index) {
    return index->kind == N_UNARY_OP && index->op == A_U_SUB &&
           index->u.unary.operand->kind == N_CONSTANT &&
           str_is(index->u.unary.operand->u.constant.text, "1");
}

// x.shape[-1]
static bool shape_value(Test *t, const Node *node, double *out) {
    const Node *of = node->u.subscript.value;
    if (of->kind != N_ATTRIBUTE || !str_is(sym_str(of->u.attribute.attr), "shape") ||
        !is_last(node->u.subscript.slice)) {
        return false;
    }
    Val *v = param_of(t, of->u.attribute.value);
    WidthSearch s = {.frame = t->place->frame};
    Width w = v ? width_of(&s, v, 0) : (Width){0};
    if (w.ground == GROUND_NONE) return false;
    if (w.ground >= t->used.ground) t->used = w;
    *out = w.num;
    return true;
}

static bool value_of(Test *t, const Node *node, double *out, int depth);

static bool binary_value(Test *t, const Node *node, double *out, int depth) {
    double a, b;
    if (!value_of(t, node->u.bin.left, &a, depth + 1) ||
        !value_of(t, node->u.bin.right, &b, depth + 1)) {
        return false;
    }
    if (node->op == A_MULT) *out = a * b;
    else if (node->op == A_MOD && b > 0) *out = a - b * (double)(int64_t)(a / b);
    else return false;
    return true;
}

static bool value_of(Test *t, const Node *node, double *out, int depth) {
    if (depth > TEST_DEPTH) return false;
    switch ((int)node->kind) {
    case N_CONSTANT:
        if (node->op != CONST_INT) return false;
        *out = val_const(&t->place->frame->flow->graph, CONST_INT, node->u.constant.text)->num;
        return true;
    case N_NAME: {
        const Val *v = param_of(t, node);
        if (!v || !val_is_number(v)) return false;
        *out = v->num;
        return true;
    }
    case N_SUBSCRIPT: return shape_value(t, node, out);
    case N_BIN_OP: return binary_value(t, node, out, depth);
    case N_CALL:
        *out = t->element;
        return node->u.call.func->kind == N_ATTRIBUTE &&
               str_is(sym_str(node->u.call.func->u.attribute.attr), "element_size");
    default: return false;
    }
}

static bool compare(AstOp op, double a, double b, bool *out) {
    switch ((int)op) {
    case A_EQ: *out = a == b; return true;
    case A_LT: *out = a < b; return true;
    case A_LT_E: *out = a <= b; return true;
    case A_GT: *out = a > b; return true;
    case A_GT_E: *out = a >= b; return true;
    default: return false;
    }
}

// 1, 0, or -1 where it is not known.
static int truth_of(Test *t, const Node *node, int depth) {
    if (depth > TEST_DEPTH) return -1;
    if (node->kind == N_BOOL_OP) {
        bool any = node->op == A_OR, open = false;
        for (uint32_t i = 0; i < node->u.bool_op.values.len; i++) {
            int truth = truth_of(t, node->u.bool_op.values.at[i], depth + 1);
            if (truth == any) return any;
            open |= truth < 0;
        }
        return open ? -1 : !any;
    }
    if (node->kind != N_COMPARE || node->u.compare.comparators.len != 1) return -1;
    double a, b;
    bool holds;
    if (!value_of(t, node->u.compare.left, &a, 0) ||
        !value_of(t, node->u.compare.comparators.at[0], &b, 0) ||
        !compare((AstOp)node->u.compare.ops[0], a, b, &holds)) {
        return -1;
    }
    return holds;
}

// 2 * at == x.shape[-1], where `at` is a number or a share of the length that says otherwise.
static bool is_cut_elsewhere(const Test *t, const Node *node) {
    if (node->kind != N_COMPARE || node->u.compare.comparators.len != 1) return false;
    const Node *twice = node->u.compare.left, *length = node->u.compare.comparators.at[0];
    bool equal = node->u.compare.ops[0] == A_EQ;
    if (!equal || twice->kind != N_BIN_OP || twice->op != A_MULT) return false;
    if (length->kind != N_SUBSCRIPT || length->u.subscript.value->kind != N_ATTRIBUTE) return false;
    const Node *two = twice->u.bin.left;
    if (two->kind != N_CONSTANT || !str_is(two->u.constant.text, "2")) return false;
    Val *at = param_of(t, twice->u.bin.right);
    Val *x = param_of(t, length->u.subscript.value->u.attribute.value);
    return at && x && op_cuts_elsewhere(t->place->frame->flow, x, at);
}

FactState prove_limit(Requirement *r, const Place *place) {
    Test t = {.r = r, .place = place, .element = 2};
    if (is_cut_elsewhere(&t, r->test)) {
        r->why = STR("they are cut elsewhere");
        return FACT_REFUTED;
    }
    int halves = truth_of(&t, r->test, 0);
    if (halves < 0 || t.used.ground == GROUND_NONE) return FACT_UNKNOWN;
    t.element = 4;
    if (truth_of(&t, r->test, 0) != halves) return FACT_UNKNOWN; // the dtype decides
    Arena *arena = place->frame->flow->arena;
    bool written = t.used.ground == GROUND_WRITTEN;
    r->chain = t.used.chain;
    r->soft = !written && !halves;
    r->why = arena_printf(arena, "%g wide%s%s", t.used.num,
                          written ? " where it is made"
                          : t.used.ground == GROUND_CALL ? " in the first call of the module"
                                                         : " by default",
                          written || r->soft ? "" : "; tested at run time");
    if (!written) return FACT_UNKNOWN;
    return halves ? FACT_PROVEN : FACT_REFUTED;
}
