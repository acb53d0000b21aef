// prove.c - one prover a predicate.
#include "base/base.h"

#include "match/prove.h"

#include "flow/changes.h"
#include "flow/dtype.h"
#include "match/mask_origin.h"
#include "match/number.h"
#include "match/ranks.h"
#include "match/same_form.h"
#include "match/shapes.h"
#include "match/stated.h"
#include "match/tensor_kind.h"
#include "match/widths.h"

enum {
    CHOICES_MAX = 8, // operands looked into, one within another
    TABLE_RANK_MAX = 4,
};

typedef struct Prover {
    Flow *flow;
    const Place *place;
    const Match *match;
    Requirement *r;
} Prover;

int requirement_param(const Requirement *r, const Sym *name) {
    for (uint32_t i = 0; i < r->name_count; i++) {
        if (r->names[i] == name) return r->args[i];
    }
    return -1;
}

static Val *bound_name(const Prover *p, const Node *node) {
    if (node->kind != N_NAME) return NULL;
    int i = requirement_param(p->r, node->u.name.id);
    return i < 0 ? NULL : p->match->bound[i];
}

// `name.attr` of a parameter; returns its value.
static Val *param_attr(const Prover *p, const Node *node, const char *attr) {
    if (node->kind != N_ATTRIBUTE) return NULL;
    if (!str_is(sym_str(node->u.attribute.attr), attr)) return NULL;
    return bound_name(p, node->u.attribute.value);
}

// `name.method()` of a parameter.
static Val *param_call(const Prover *p, const Node *node, const char *method) {
    if (node->kind != N_CALL || node->u.call.args.len) return NULL;
    return param_attr(p, node->u.call.func, method);
}

static FactState state(Prover *p, FactState s, const char *why) {
    p->r->why = str_of(why);
    return s;
}

static FactState doubtful(Prover *p, const char *why) {
    p->r->soft = true;
    return state(p, FACT_UNKNOWN, why);
}

// A test that the source shows to fail: what is written for it would never run.
static FactState never_runs(Prover *p, Str why) {
    p->r->soft = true;
    p->r->why = arena_printf(p->flow->arena, "%.*s: the replacement would never run",
                             STR_FMT(why));
    return FACT_UNKNOWN;
}

static void link_to(Prover *p, Module *module, Node *node, const char *what) {
    if (!module || !node) return;
    ChainLink *link = NEW(p->flow->arena, ChainLink);
    *link = (ChainLink){module, node, what, p->r->chain};
    p->r->chain = link;
}

// ---- shapes -----------------------------------------------------------------

// The torch.nn.Linear behind the callee of a call; NULL if it is none.
static Val *linear_of(Flow *flow, const Val *call) {
    if (call->op != V_CALL) return NULL;
    Val *callee = call->args[0];
    if (callee->op == V_ATTR && object_class(callee->args[0])) {
        Val *made = object_attr(flow, callee->args[0], callee->name);
        if (made) callee = made;
    }
    if (callee->op != V_INSTANCE || callee->def) return NULL;
    return str_is(callee->text, "torch.nn.Linear") ? callee : NULL;
}

static Val *keyword_or(const Val *inst, uint32_t index, const char *name) {
    uint32_t at = 0;
    for (uint32_t i = 0; i < inst->nargs; i++) {
        const Val *arg = inst->args[i];
        if (arg->op == V_KEYWORD) {
            if (arg->name && str_is(sym_str(arg->name), name)) return arg->args[0];
        } else if (at++ == index) {
            return inst->args[i];
        }
    }
    return NULL;
}

// A subclass or another method may store a layer of another width.
static bool is_replaced(const Prover *p, const Val *call) {
    const Node *n = call->node;
    const Val *self = p->place->frame->self;
    if (!n || n->kind != N_CALL || n->u.call.func->kind != N_ATTRIBUTE || !self) return false;
    const Def *def = object_class(self);
    return def && attr_change(p->flow, def, n->u.call.func->u.attribute.attr) != ATTR_KEPT;
}

// Of self.hidden_dim what the constructor stored there.
static Val *stored_size(Flow *flow, Val *v) {
    if (!v || v->op != V_ATTR || !object_class(v->args[0])) return v;
    Val *stored = object_attr(flow, v->args[0], v->name);
    return stored ? stored : v;
}

static bool same_linears(Prover *p, Val *a, Val *b) {
    Val *la = linear_of(p->flow, a), *lb = linear_of(p->flow, b);
    if (!la || !lb || a->nargs != 2 || b->nargs != 2) return false;
    if (shape_root(a->args[1]) != shape_root(b->args[1])) return false;
    if (is_replaced(p, a) || is_replaced(p, b)) return false;
    Val *oa = keyword_or(la, 1, "out_features"), *ob = keyword_or(lb, 1, "out_features");
    if (!oa || !ob) return false;
    if (oa != ob && stored_size(p->flow, oa) != stored_size(p->flow, ob)) return false;
    link_to(p, lb->module, lb->node, "constructor");
    link_to(p, la->module, la->node, "constructor");
    return true;
}

// The parameter behind an attribute: nn.Parameter(...) and its data, or NULL.
static Val *parameter_below(Flow *flow, Val *v, int depth) {
    if (depth > CHOICES_MAX) return NULL;
    if (v->op == V_ATTR && object_class(v->args[0])) {
        Val *made = object_attr(flow, v->args[0], v->name);
        if (made) v = made;
    }
    if (v->op == V_PHI) { // nn.Parameter(...) if affine else None
        Val *a = parameter_below(flow, v->args[1], depth + 1);
        return a ? a : parameter_below(flow, v->args[2], depth + 1);
    }
    return v->op == OP_PARAMETER ? v : NULL;
}

static Val *parameter_of(Flow *flow, Val *v) {
    return parameter_below(flow, v, 0);
}

// The sizes a tensor is made with, as a tuple; NULL if unknown.
static Val *sizes_below(const Val *data, int depth) {
    if (depth > CHOICES_MAX) return NULL;
    switch ((int)data->op) {
    case OP_ONES: case OP_ZEROS: case OP_EMPTY: case OP_FULL: return data->args[0];
    case OP_MUL: case OP_ADD:
        for (int i = 0; i < 2; i++) {
            Val *sizes = sizes_below(data->args[i], depth + 1);
            if (sizes) return sizes;
        }
        return NULL;
    default: return NULL;
    }
}

static Val *made_sizes(const Val *data) {
    return sizes_below(data, 0);
}

Val *parameter_size(Flow *flow, Val *weight) {
    Val *parameter = parameter_of(flow, val_strip(weight));
    Val *sizes = parameter ? made_sizes(parameter->args[0]) : NULL;
    bool one = sizes && (sizes->op == V_TUPLE || sizes->op == V_LIST) && sizes->nargs == 1;
    return one ? sizes->args[0] : NULL;
}

static bool same_equation(Str a, Str b) {
    for (size_t i = 0, k = 0;; i++, k++) {
        while (i < a.len && a.at[i] == ' ') i++;
        while (k < b.len && b.at[k] == ' ') k++;
        if (i == a.len || k == b.len) return i == a.len && k == b.len;
        if (a.at[i] != b.at[k]) return false;
    }
}

// Two products by one equation, of the same inputs or of weights that are taken alike.
static bool einsums_alike(const Val *a, const Val *b) {
    Val *p = a->args[0], *q = b->args[0];
    if (p->op != V_CONST || q->op != V_CONST || !same_equation(p->text, q->text)) return false;
    return same_form(a->args[1], b->args[1]);
}

static bool alike(Val *a, Val *b);

// cat of as many parts, each alike; a comprehension has one that stands for all.
static bool joined_alike(const Val *a, const Val *b) {
    const Val *p = a->args[0], *q = b->args[0];
    bool lists = p->op == q->op && p->nargs == q->nargs && p->nargs && a->args[1] == b->args[1];
    if (lists && p->op == V_OPAQUE && same_form_of_params(p, q)) return true;
    for (uint32_t i = 0; lists && i < p->nargs; i++) {
        lists = alike(val_strip(p->args[i]), val_strip(q->args[i]));
    }
    return lists;
}

// One product of one input by two weights of one shape: F.linear(x, w1).
static bool alike(Val *a, Val *b) {
    if (a->op != b->op) return false;
    if (a->op == OP_CAT) return joined_alike(a, b);
    if (a->op == V_PARAM) return true;
    if (a->op == V_ATTR) return a->args[0] == b->args[0];
    if (a->op == OP_LINEAR || a->op == OP_MATMUL) {
        return shape_root(a->args[0]) == shape_root(b->args[0]);
    }
    if (a->op == V_CALL && a->nargs == b->nargs && a->nargs >= 2) {
        bool learned = a->args[0]->op == V_ATTR && b->args[0]->op == V_ATTR;
        if (learned && shape_root(a->args[1]) == shape_root(b->args[1])) return true;
    }
    if (a->op == V_ITEM && a->args[0] == b->args[0]) return true;
    if (a->op == OP_EINSUM) return einsums_alike(a, b);
    bool compared = a->op == V_CALL || a->op == V_PHI || a->op == OP_ADD;
    return compared && (same_form(a, b) || (a->op == V_PHI && same_form_of_params(a, b)));
}

// Of a and b themselves, or of what both are made of alike.
static Stated shape_is_said(const Prover *p, Val *a, Val *b) {
    Stated said = stated_shape(p->place, val_strip(a), val_strip(b));
    if (said) return said;
    peel_alike(&a, &b);
    return stated_shape(p->place, a, b);
}

// Bound by a parameter of the rule that is never a computed value.
static bool is_weight(const Prover *p, const Val *v) {
    const Rule *rule = p->match->spec->rule;
    for (uint32_t i = 0; i < rule->param_count; i++) {
        if (rule->params[i].weight && p->match->bound[i] == v) return true;
    }
    return false;
}

static FactState same_shape(Prover *p, Val *a, Val *b) {
    Stated said = shape_is_said(p, a, b);
    if (said == STATED_RAISED) return state(p, FACT_PROVEN, "the function raises if they differ");
    if (said) return state(p, FACT_UNKNOWN, "the function asserts it; tested at run time");
    bool called = calls_alike(p->place->frame, a, b) || given_together(p->place->frame, a, b);
    peel_alike(&a, &b);
    if (a == b) return state(p, FACT_PROVEN, "one is computed from the other, element by element");
    if (a->op == V_PART && b->op == V_PART && a->args[0] == b->args[0] &&
        a->args[1] == b->args[1]) {
        return state(p, FACT_PROVEN, "both are parts of one split");
    }
    switch (compare_parts(a, b)) {
    case PARTS_AS_LONG: return state(p, FACT_PROVEN, "both are as long a part of one tensor");
    case PARTS_DIFFER: return state(p, FACT_REFUTED, "one split made them, of two sizes");
    case PARTS_OPEN:
        return doubtful(p, "one split made them, of sizes that are written otherwise");
    case PARTS_NONE: break;
    }
    if (same_linears(p, a, b)) {
        return state(p, FACT_PROVEN, "both are linear layers of one width on the same input");
    }
    if (is_weight(p, a) && is_weight(p, b)) {
        return state(p, FACT_UNKNOWN, "both are handed in; tested at run time");
    }
    if (parameter_of(p->flow, a) || parameter_of(p->flow, b)) {
        return state(p, FACT_REFUTED, "one of the two is a learned parameter, not an activation");
    }
    if (adds_axis(a) != adds_axis(b) || one_wide(a) != one_wide(b)) {
        return state(p, FACT_REFUTED, "one of the two is broadcast over the other");
    }
    // cos[:, None] beside sin.unsqueeze(1) may well be alike.
    bool apart = a->op == OP_UNSQUEEZE && b->op == OP_UNSQUEEZE;
    if (apart || reduces(a) || reduces(b)) {
        return state(p, FACT_REFUTED, "one of the two is broadcast over the other");
    }
    if (called || alike(a, b)) {
        return state(p, FACT_UNKNOWN, "two results of one kind; tested at run time");
    }
    return doubtful(p, "nothing in the source shows that the two have one shape");
}

static bool is_int_size(Prover *p, Val *size) {
    if (size->op == V_PARAM && size->node) {
        const Node *a = size->node->u.arg.annotation;
        if (a && a->kind == N_NAME && str_is(sym_str(a->u.name.id), "int")) return true;
    }
    Resolved r = flow_resolve(p->flow, size);
    return r.val && val_is_number(r.val) && r.val->num != 1;
}

// nn.Parameter(torch.tensor(1.0)), torch.ones(()): no axis at all.
static bool made_of_number(const Val *data) {
    if (data->op == V_CALL && data->nargs >= 2 && data->args[0]->op == V_GLOBAL) {
        return str_is(data->args[0]->text, "torch.tensor") && val_is_number(data->args[1]);
    }
    Val *sizes = made_sizes(data);
    return sizes && (sizes->op == V_TUPLE || sizes->op == V_LIST) && sizes->nargs == 0;
}

// w.shape == x.shape[-1:]
static FactState spans_last_axis(Prover *p, Val *w) {
    Val *leaf = val_strip(w);
    Val *parameter = parameter_of(p->flow, leaf);
    Val *sizes = parameter ? made_sizes(parameter->args[0]) : NULL;
    if (parameter && made_of_number(parameter->args[0])) {
        return state(p, FACT_REFUTED, "the weight is one number");
    }
    if (sizes && sizes->op == V_TUPLE && sizes->nargs > 1) {
        return state(p, FACT_REFUTED, "the weight has more than one axis");
    }
    if (sizes && sizes->op == V_TUPLE && sizes->nargs == 1) {
        link_to(p, parameter->module, parameter->node, "constructor");
        if (val_is_int(sizes->args[0], 1)) {
            return state(p, FACT_REFUTED, "the weight has one element");
        }
        if (is_int_size(p, sizes->args[0])) {
            return state(p, FACT_PROVEN, "the weight has one axis, and the product "
                                          "with x needs its length");
        }
        return state(p, FACT_UNKNOWN, "a parameter whose size the caller gives; "
                                       "tested at run time");
    }
    if (leaf->op == V_PARAM || leaf->op == V_ATTR) {
        return state(p, FACT_UNKNOWN, "tested at run time");
    }
    return doubtful(p, "the factor is computed, not a weight of the last axis");
}

// ---- dtypes -----------------------------------------------------------------

static bool dtype_listed(const Val *dtype, const Node *list) {
    for (uint32_t i = 0; i < list->u.list.elts.len; i++) {
        const Node *elt = list->u.list.elts.at[i];
        if (elt->kind != N_ATTRIBUTE) continue;
        Str name = sym_str(elt->u.attribute.attr);
        if (str_ends(dtype->text, name.at) && dtype->text.len == name.len + 6) return true;
    }
    return false;
}

static FactState dtype_in(Prover *p, Val *x, const Node *list) {
    Val *d = dtype_of(p->flow, x, (Scalars){0});
    if (d->op != V_GLOBAL || list->kind != N_TUPLE) {
        return state(p, FACT_UNKNOWN, "the dtype is known at run time");
    }
    if (dtype_listed(d, list)) return state(p, FACT_PROVEN, "cast in the source");
    return state(p, FACT_REFUTED, "the source casts to another dtype");
}

// ---- layout -----------------------------------------------------------------

bool is_contiguous(Flow *flow, Val *v) {
    switch ((int)v->op) {
    case OP_CONTIGUOUS: case OP_CAT: case OP_STACK: case OP_WEAVE: case OP_LINEAR: return true;
    case V_CALL: return linear_of(flow, v) != NULL;
    case OP_MATMUL: return true;
    default: return false;
    }
}

// ---- predicates -------------------------------------------------------------

// x.dim() in (3, 4): tested at run time in any case, a caution where it cannot hold.
static FactState rank_in(Prover *p, const Val *x, const Node *list) {
    uint32_t axis = p->match->last_axis;
    uint32_t rank = axis ? axis + 1 : placed_rank(p->place, x);
    if (!rank || list->kind != N_TUPLE) return FACT_UNKNOWN;
    for (uint32_t i = 0; i < list->u.list.elts.len; i++) {
        const Node *elt = list->u.list.elts.at[i];
        if (elt->kind != N_CONSTANT || elt->op != CONST_INT) return FACT_UNKNOWN;
        Val *number = val_const(&p->flow->graph, CONST_INT, elt->u.constant.text);
        if (number->num == rank) return FACT_UNKNOWN;
    }
    if (axis) {
        p->r->why = arena_printf(p->flow->arena, "axis %u, as it is written, is the last one of "
                                 "%u alone", (unsigned)axis, (unsigned)rank);
        return FACT_REFUTED;
    }
    return never_runs(p, arena_printf(p->flow->arena, "it has %u as the source unpacks, views "
                                      "or tests it", (unsigned)rank));
}

static FactState prove_in(Prover *p, const Node *test) {
    const Node *list = test->u.compare.comparators.at[0];
    Val *x = param_attr(p, test->u.compare.left, "dtype");
    if (x) return dtype_in(p, x, list);
    x = param_call(p, test->u.compare.left, "dim");
    return x ? rank_in(p, x, list) : FACT_UNKNOWN;
}

// ranked(table, x).dim() == x.dim()
static FactState table_fits(Prover *p, const Node *ranked) {
    NodeList args = ranked->u.call.args;
    bool named = ranked->u.call.func->kind == N_NAME && args.len >= 2 &&
                 str_is(sym_str(ranked->u.call.func->u.name.id), "ranked");
    Val *table = named ? bound_name(p, args.at[0]) : NULL;
    Val *x = named ? bound_name(p, args.at[1]) : NULL;
    uint32_t own = table ? placed_rank(p->place, table) : 0;
    uint32_t wanted = x ? placed_rank(p->place, x) : 0;
    if (own && wanted && own > wanted) {
        return never_runs(p, arena_printf(p->flow->arena, "it has %u, the input %u", (unsigned)own,
                                          (unsigned)wanted));
    }
    if (own > TABLE_RANK_MAX) {
        return never_runs(p, arena_printf(p->flow->arena, "it has %u, the operator takes at most "
                                          "%d", (unsigned)own, TABLE_RANK_MAX));
    }
    return FACT_UNKNOWN;
}

static FactState prove_equal(Prover *p, const Node *test) {
    const Node *left = test->u.compare.left;
    const Node *right = test->u.compare.comparators.at[0];
    Val *a = param_attr(p, left, "shape"), *b = param_attr(p, right, "shape");
    if (a && a == b) return state(p, FACT_REFUTED, "both factors are one tensor");
    if (a && b) return same_shape(p, a, b);
    if (a && right->kind == N_SUBSCRIPT) return spans_last_axis(p, a);
    bool dim = left->kind == N_CALL && left->u.call.func->kind == N_ATTRIBUTE &&
               left->u.call.func->u.attribute.value->kind == N_CALL;
    if (dim) return table_fits(p, left->u.call.func->u.attribute.value);
    bool even = left->kind == N_BIN_OP && left->op == A_MOD;
    if (even && p->match->halves && p->match->spec->halves_meet) {
        return state(p, FACT_PROVEN, "the product of its two parts needs equal halves");
    }
    return FACT_UNKNOWN;
}

static bool comes_from_clamp(const Val *v) {
    v = val_strip((Val *)(uintptr_t)v);
    return v->op == OP_CLAMP || v->op == OP_TANH || v->op == OP_MAXIMUM ||
           v->op == OP_MINIMUM;
}

// if limit > 0: x = x.clamp(max=limit)
static bool may_come_from_clamp(const Val *v, int depth) {
    v = val_strip((Val *)(uintptr_t)v);
    if (v->op != V_PHI || depth == CHOICES_MAX) return comes_from_clamp(v);
    return may_come_from_clamp(v->args[1], depth + 1) || may_come_from_clamp(v->args[2], depth + 1);
}

static bool is_wrapped(const Requirement *r, const Node *name) {
    for (uint32_t i = 0; i < r->name_count; i++) {
        if (r->names[i] == name->u.name.id) return r->wrapped[i];
    }
    return false;
}

// uncentred(x): x is not a - mean(a).
static bool is_centred(const Val *v) {
    v = val_strip((Val *)(uintptr_t)v);
    if (v->op != OP_ADD) return false;
    for (int i = 0; i < 2; i++) {
        const Val *n = val_strip(v->args[i]);
        if (n->op == OP_NEG && val_strip(n->args[0])->op == OP_MEAN) return true;
    }
    return false;
}

// npu_is_mask(x): what is added to scores is 0 or very negative.
static FactState prove_mask(Prover *p, Val *x) {
    OriginFound found = mask_origin(p->flow, x);
    link_to(p, found.module, found.node, "mask");
    switch (found.origin) {
    case ORIGIN_NOTHING:
    case ORIGIN_ZEROS:
    case ORIGIN_BINARY: return state(p, FACT_PROVEN, "built of 0 and very negative numbers");
    case ORIGIN_MASK: return state(p, FACT_UNKNOWN,
                                   "a very negative number goes into it; "
                                       "tested at run time");
    case ORIGIN_BIAS:
        return doubtful(p, "a learned or computed bias goes in: an additive bias would be lost by "
                           "a bool mask, and is taken as pse only, by hand; where the test fails, "
                           "the original runs");
    case ORIGIN_COMPUTED:
        return doubtful(p, "it is computed, and nothing shows that it has no other values: an "
                           "additive bias would be lost by a bool mask, and is taken as pse only, "
                           "by hand; where the test fails, the original runs");
    case ORIGIN_UNKNOWN: break;
    }
    return doubtful(p, "cannot prove it is a 0/-inf mask: nothing in sight shows its values, "
                       "and an additive bias would be lost by a bool mask");
}

// unclamped(x): x is no output of a clamp or soft-cap.
// isinstance(eps, float), isinstance(weight, torch.Tensor). A default is no proof where
// the code takes None, too.
static FactState prove_isinstance(Prover *p, const Node *test) {
    const Node *of = test->u.call.args.at[0];
    Val *v = bound_name(p, of);
    if (!v) return FACT_UNKNOWN;
    if (test->u.call.args.at[1]->kind == N_ATTRIBUTE) {
        return is_given_tensor(p->flow, v) ? state(p, FACT_PROVEN, "the source makes a tensor")
                                     : FACT_UNKNOWN;
    }
    int param = requirement_param(p->r, of->u.name.id);
    const Rule *rule = p->match->spec->rule;
    bool scale = p->match->attend; // scores are multiplied by masks, too
    bool may_lack = param >= 0 && rule->params[param].optional && !scale;
    bool known = is_scalar(p->flow, v, (Scalars){0}) &&
                 !(may_lack && v->op == V_ATTR && flow_resolve(p->flow, v).from_config);
    if (known) return state(p, FACT_PROVEN, "the source gives a number");
    if (!scale || shows_number(v)) return FACT_UNKNOWN;
    return doubtful(p, "nothing in sight shows that it is no tensor");
}

static FactState prove_call(Prover *p, const Node *test) {
    const Node *func = test->u.call.func;
    if (func->kind == N_NAME && str_is(sym_str(func->u.name.id), "npu_is_mask") &&
        test->u.call.args.len == 1) {
        Val *x = bound_name(p, test->u.call.args.at[0]);
        return x ? prove_mask(p, x) : FACT_UNKNOWN;
    }
    if (func->kind == N_NAME && str_is(sym_str(func->u.name.id), "uncentred") &&
        test->u.call.args.len == 1) {
        Val *x = bound_name(p, test->u.call.args.at[0]);
        if (!x || !is_centred(x)) return state(p, FACT_PROVEN, "no mean is subtracted");
        link_to(p, x->module, x->node, "mean subtracted");
        return state(p, FACT_REFUTED, "");
    }
    if (func->kind == N_NAME && str_is(sym_str(func->u.name.id), "unclamped") &&
        test->u.call.args.len == 1) {
        Val *x = bound_name(p, test->u.call.args.at[0]);
        if (!x) return FACT_UNKNOWN;
        if (comes_from_clamp(x)) {
            link_to(p, x->module, x->node, "clamp");
            return state(p, FACT_REFUTED, "");
        }
        if (may_come_from_clamp(x, 0)) return doubtful(p, "it is clamped where a condition holds");
        return state(p, FACT_PROVEN, "no clamp before the product");
    }
    if (func->kind == N_NAME && str_is(sym_str(func->u.name.id), "isinstance") &&
        test->u.call.args.len == 2) {
        return prove_isinstance(p, test);
    }
    Val *x = param_call(p, test, "is_contiguous");
    if (x && is_contiguous(p->flow, x)) return state(p, FACT_PROVEN, "made without gaps");
    if (x && is_wrapped(p->r, test->u.call.func->u.attribute.value)) {
        return state(p, FACT_PROVEN, "the replacement makes it contiguous");
    }
    return FACT_UNKNOWN;
}

// times == 1, where the source gives that number.
static bool is_that_number(const Prover *p, const Node *test) {
    if (test->kind != N_COMPARE || test->u.compare.comparators.len != 1 ||
        test->u.compare.ops[0] != A_EQ) {
        return false;
    }
    Val *x = bound_name(p, test->u.compare.left);
    const Node *c = test->u.compare.comparators.at[0];
    bool number = c->kind == N_CONSTANT && (c->op == CONST_INT || c->op == CONST_FLOAT);
    if (!x || !number || !val_is_number(x)) return false;
    return val_const(&p->flow->graph, (ConstKind)c->op, c->u.constant.text)->num == x->num;
}

// a or b: of one number that settles it.
static FactState prove_either(Prover *p, const Node *test) {
    for (uint32_t i = 0; i < test->u.bool_op.values.len; i++) {
        if (is_that_number(p, test->u.bool_op.values.at[i])) {
            return state(p, FACT_PROVEN, "the source gives the number");
        }
    }
    return FACT_UNKNOWN;
}

static FactState prove(Prover *p, const Node *test) {
    if (test->kind == N_BOOL_OP && test->op == A_OR) return prove_either(p, test);
    if (test->kind == N_COMPARE && test->u.compare.comparators.len == 1) {
        if (test->u.compare.ops[0] == A_IN) return prove_in(p, test);
        if (test->u.compare.ops[0] == A_EQ) return prove_equal(p, test);
        return FACT_UNKNOWN;
    }
    return test->kind == N_CALL ? prove_call(p, test) : FACT_UNKNOWN;
}

// ---- which asserts ----------------------------------------------------------

static bool is_none(const Node *node) {
    return node->kind == N_CONSTANT && node->op == CONST_NONE;
}

// `x is not None`, x an argument of the operator: 1, 0, or -1 of another test.
static int given_truth(const Place *place, const Requirement *form, const Node *test) {
    if (test->kind != N_COMPARE || test->u.compare.comparators.len != 1) return -1;
    const Node *left = test->u.compare.left;
    AstOp op = (AstOp)test->u.compare.ops[0];
    if (left->kind != N_NAME || !is_none(test->u.compare.comparators.at[0]) ||
        (op != A_IS && op != A_IS_NOT)) {
        return -1;
    }
    for (uint32_t i = 0; i < form->name_count; i++) {
        if (form->names[i] != left->u.name.id) continue;
        int p = form->args[i];
        bool absent = form->absent[i] || (p >= 0 && !place->match->bound[p]);
        return absent == (op == A_IS);
    }
    return -1;
}

static void add_asserts(Requirements *out, const Place *place,
                        const Requirement *form, const NodeList *body) {
    const Spec *spec = place->match->spec;
    Arena *arena = place->frame->flow->scratch;
    for (uint32_t i = 0; i < body->len; i++) {
        Node *stmt = body->at[i];
        if (stmt->kind == N_IF) {
            const Node *test = stmt->u.while_.test;
            int truth = form->of_operator ? given_truth(place, form, test)
                                          : spec_truth(spec, test);
            // What limits() asks for in a case that is not known is not asked.
            bool both = truth < 0 && !form->of_operator;
            if (truth == 1 || both) add_asserts(out, place, form, &stmt->u.while_.body);
            if (truth == 0 || both) add_asserts(out, place, form, &stmt->u.while_.orelse);
        }
        if (stmt->kind != N_ASSERT) continue;
        Requirement r = *form;
        r.test = stmt->u.assert_.test;
        const Node *msg = stmt->u.assert_.msg;
        if (msg && msg->kind == N_CONSTANT) r.message = msg->u.constant.text;
        vec_push(arena, out, r);
    }
}

static void name_params(Requirement *form, const Rule *rule, const Node *fn) {
    const ArgumentsNode *a = fn->u.function->args->u.arguments;
    for (uint32_t i = 0; i < a->args.len && i < RULE_MAX_PARAMS; i++) {
        form->names[form->name_count] = a->args.at[i]->u.arg.name;
        form->args[form->name_count++] = rule_param(rule, a->args.at[i]->u.arg.name);
    }
    for (uint32_t i = 0; i < a->kwonly.len && form->name_count < RULE_MAX_PARAMS; i++) {
        form->names[form->name_count] = a->kwonly.at[i]->u.arg.name;
        form->args[form->name_count++] = rule_param(rule, a->kwonly.at[i]->u.arg.name);
    }
}

// The call of the operator in replacement(), or NULL.
typedef struct OpSearch {
    const Spec *spec;
    Node *call;
} OpSearch;

static bool search_op(Node *node, void *data) {
    OpSearch *search = data;
    if (node->kind == N_IF) {
        int truth = spec_truth(search->spec, node->u.while_.test);
        const NodeList *arm = truth == 0 ? &node->u.while_.orelse : &node->u.while_.body;
        for (uint32_t i = 0; i < arm->len; i++) {
            if (!search_op(arm->at[i], data)) return false;
        }
        return true;
    }
    if (node->kind == N_CALL && node->u.call.func->kind == N_ATTRIBUTE &&
        str_eq(sym_str(node->u.call.func->u.attribute.attr),
               search->spec->rule->operator_)) {
        search->call = node;
        return false;
    }
    return node_children(node, search_op, data);
}

static const Node *operator_argument(const Node *call, uint32_t index,
                                     const Sym *name) {
    if (index < call->u.call.args.len) return call->u.call.args.at[index];
    for (uint32_t i = 0; i < call->u.call.keywords.len; i++) {
        const Node *k = call->u.call.keywords.at[i];
        if (k->u.keyword.name == name) return k->u.keyword.value;
    }
    return NULL;
}

// limits() speaks of the operator's arguments; those that are a parameter of
// the rule as it stands can be tested, the replacement sees to the others.
// The parameters that torch.cat([a, b]) joins: what limits() says of the dtype
// and rank of the whole holds for each. `which` counts them.
static int joined_param(const Spec *spec, const Node *arg, uint32_t which) {
    if (arg->kind != N_CALL || arg->u.call.func->kind != N_ATTRIBUTE ||
        !str_is(sym_str(arg->u.call.func->u.attribute.attr), "cat") ||
        arg->u.call.args.len == 0) {
        return -1;
    }
    const Node *list = arg->u.call.args.at[0];
    if (list->kind != N_LIST && list->kind != N_TUPLE) return -1;
    if (which >= list->u.list.elts.len) return -1;
    const Node *elt = list->u.list.elts.at[which];
    return elt->kind == N_NAME ? rule_param(spec->rule, elt->u.name.id) : -1;
}

// Names the arguments of the operator; of those that are joined, the
// `which`-th part. False if no argument has that many parts.
static bool name_operator_args(Requirement *form, const Spec *spec, uint32_t which) {
    OpSearch search = {.spec = spec};
    node_children(spec->rule->replacement, search_op, &search);
    if (!search.call) return false;
    bool joined = false;
    const ArgumentsNode *a = spec->rule->op_limits->u.function->args->u.arguments;
    for (uint32_t i = 0; i < a->args.len && i < REQUIREMENT_MAX_NAMES; i++) {
        const Sym *name = a->args.at[i]->u.arg.name;
        const Node *arg = operator_argument(search.call, i, name);
        bool wraps = arg && arg->kind == N_CALL && arg->u.call.args.len &&
                     arg->u.call.func->kind == N_NAME && // contiguous(x), widened(x, cos)
                     !str_starts(sym_str(arg->u.call.func->u.name.id), "npu_");
        if (wraps) arg = arg->u.call.args.at[0];
        int param = arg && arg->kind == N_NAME ? rule_param(spec->rule, arg->u.name.id) : -1;
        int part = arg ? joined_param(spec, arg, which) : -1;
        form->names[form->name_count] = name;
        form->wrapped[form->name_count] = wraps;
        form->absent[form->name_count] = !arg || is_none(arg);
        form->joined[form->name_count] = part >= 0;
        form->args[form->name_count++] = part >= 0 ? part : param;
        joined |= part >= 0;
    }
    return joined || which == 0;
}

// `name.dtype` or `name.dim()`: true of the whole if it is of each part.
static bool is_part_test(const Node *attribute) {
    Str attr = sym_str(attribute->u.attribute.attr);
    return str_is(attr, "dtype") || str_is(attr, "dim");
}

typedef struct NameCheck {
    const Requirement *r;
    const Match *match;
    bool known;
} NameCheck;

static bool check_names(Node *node, void *data) {
    NameCheck *check = data;
    if (node->kind == N_ATTRIBUTE && node->u.attribute.value->kind == N_NAME &&
        !is_part_test(node)) {
        const Sym *name = node->u.attribute.value->u.name.id;
        for (uint32_t i = 0; i < check->r->name_count; i++) {
            if (check->r->names[i] == name && check->r->joined[i]) check->known = false;
        }
    }
    if (node->kind == N_NAME) {
        for (uint32_t i = 0; i < check->r->name_count; i++) {
            if (check->r->names[i] != node->u.name.id) continue;
            int p = check->r->args[i];
            if (p < 0 || !check->match->bound[p]) check->known = false;
        }
        return true;
    }
    return node_children(node, check_names, data);
}

static bool speaks_of_bound(const Requirement *r, const Match *match) {
    NameCheck check = {r, match, true};
    check_names(r->test, &check);
    return check.known;
}

static bool is_any_joined(const Requirement *r) {
    for (uint32_t i = 0; i < r->name_count; i++) {
        if (r->joined[i]) return true;
    }
    return false;
}

// Rule and operator may say the same; one file may say one sentence of several
// tests.
static bool says_again(const Requirement *said, const Requirement *r) {
    if (!str_eq(said->message, r->message) || said->state != r->state) return false;
    if (memcmp(said->joined, r->joined, sizeof(r->joined)) != 0) return false;
    bool same_args = memcmp(said->args, r->args, sizeof(r->args)) == 0;
    if (said->module == r->module) return said->test == r->test && same_args;
    return !is_any_joined(r) || same_args;
}

void prove_requirements(Requirements *out, const Place *place) {
    *out = (Requirements){0};
    const Spec *spec = place->match->spec;
    Requirements all = {0};
    Requirement form = {.module = spec->rule->module};
    name_params(&form, spec->rule, spec->rule->requires);
    add_asserts(&all, place, &form, &spec->rule->requires->u.function->body);
    if (spec->rule->op_limits) {
        for (uint32_t which = 0; which < RULE_MAX_PARAMS; which++) {
            Requirement limits = {.module = spec->rule->op_module, .of_operator = true};
            if (!name_operator_args(&limits, spec, which)) break;
            add_asserts(&all, place, &limits, &spec->rule->op_limits->u.function->body);
        }
    }
    for (uint32_t i = 0; i < all.len; i++) {
        Requirement r = all.at[i];
        if (!speaks_of_bound(&r, place->match)) continue;
        Prover p = {place->frame->flow, place, place->match, &r};
        r.state = prove(&p, r.test);
        if (r.state == FACT_UNKNOWN && !r.why.len) r.state = prove_limit(&r, place);
        bool again = false;
        for (uint32_t k = 0; k < out->len; k++) again |= says_again(&out->at[k], &r);
        if (again && r.message.len) continue;
        vec_push(place->frame->flow->scratch, out, r);
    }
}
