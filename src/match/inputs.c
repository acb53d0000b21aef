// inputs.c - each input is followed down through views and elementwise
// operators to what made it: the first view that leaves gaps or another order
// is the one that is shown.
#include "base/base.h"

#include "match/inputs.h"

#include "base/buf.h"
#include "match/caller.h"
#include "match/dynamic.h"
#include "match/evidence.h"

enum { TRACE_DEPTH = 40 };

// ---- contiguity ---------------------------------------------------------------

typedef enum Lie { LIES_DENSE, LIES_STRIDED, LIES_UNSEEN } Lie;

typedef struct Strides {
    Flow *flow;
    Frame *frame;
    const Node *call; // of the function, that gave the argument which was followed
    const Val *view;  // that left the order or made gaps
    const char *what; // it does
} Strides;

static Lie trace(Strides *s, Val *v, int depth);

static bool turns_axes(const Val *v) {
    return v->op == OP_TRANSPOSE || v->op == OP_PERMUTE;
}

// A view of something: certain where that is known. The innermost view is shown;
// axes that are turned twice may be in their order again.
static Lie broken(Strides *s, Val *v, Val *below, const char *what, int depth) {
    Lie lie = trace(s, below, depth + 1);
    if (lie == LIES_STRIDED) {
        return turns_axes(v) && turns_axes(s->view) ? LIES_UNSEEN : LIES_STRIDED;
    }
    s->view = v->node ? v : below;
    s->what = what;
    return lie == LIES_DENSE ? LIES_STRIDED : LIES_UNSEEN;
}

static bool is_whole(const Val *slice) {
    return slice->op == V_SLICE && val_is_none(slice->args[0]) && val_is_none(slice->args[1]) &&
           val_is_none(slice->args[2]);
}

// x[..., a:b], x[:, 0]: leaves gaps. x[i] and x[a:b] do not.
static bool leaves_gaps(const Val *index) {
    if (index->op != V_TUPLE || index->nargs < 2) return false;
    for (uint32_t i = 1; i < index->nargs; i++) {
        const Val *at = index->args[i];
        bool view = at->op == V_SLICE ? !is_whole(at) : val_is_number(at) && !val_is_none(at);
        if (view) return true;
    }
    return false;
}

// One of the pieces that x was cut into.
static Lie trace_piece(Strides *s, Val *v, Val *cut, int depth) {
    const Val *axis = cut->args[cut->nargs - 1];
    if (val_is_int(axis, 0)) return trace(s, cut->args[0], depth + 1);
    return broken(s, v, cut->args[0], cut->op == OP_UNBIND ? "one index of an axis"
                                                           : "a part of an axis", depth);
}

static Lie trace_item(Strides *s, Val *v, int depth) {
    Val *of = v->args[0];
    switch ((int)of->op) {
    case OP_CHUNK: case OP_SPLIT: case OP_TENSOR_SPLIT: case OP_UNBIND:
        return trace_piece(s, v, of, depth);
    default: break;
    }
    const Val *index = v->args[1];
    if (leaves_gaps(index)) return broken(s, v, of, "a slice behind the first axis", depth);
    bool first = index->op == V_SLICE || val_is_number(index);
    return first ? trace(s, of, depth + 1) : LIES_UNSEEN;
}

static Lie trace_pair(Strides *s, Val *a, Val *b, int depth) {
    if (val_is_number(a)) return trace(s, b, depth + 1);
    if (val_is_number(b)) return trace(s, a, depth + 1);
    Strides other = {.flow = s->flow, .frame = s->frame, .call = s->call};
    Lie x = trace(s, a, depth + 1), y = trace(&other, b, depth + 1);
    return x == LIES_DENSE && y == LIES_DENSE ? LIES_DENSE : LIES_UNSEEN;
}

// .reshape() copies where it has to.
static bool may_copy(const Val *v) {
    const Node *n = v->node;
    if (!n || n->kind != N_CALL || n->u.call.func->kind != N_ATTRIBUTE) return true;
    return !str_is(sym_str(n->u.call.func->u.attribute.attr), "view");
}

static Lie trace_view(Strides *s, Val *v, int depth) {
    Lie lie = trace(s, v->args[0], depth + 1);
    return lie == LIES_STRIDED && may_copy(v) ? LIES_UNSEEN : lie;
}

// What the first call in the module gives for the parameter.
static Lie trace_param(Strides *s, const Val *v, int depth) {
    CallSite site = s->call ? (CallSite){0} : find_argument(s->frame, v);
    if (!site.arg) return LIES_UNSEEN;
    s->call = site.call;
    return trace(s, site.arg, depth + 1);
}

static Lie trace(Strides *s, Val *v, int depth) {
    if (depth > TRACE_DEPTH) return LIES_UNSEEN;
    if (is_contiguous(s->flow, v)) return LIES_DENSE;
    switch ((int)v->op) {
    case OP_TRANSPOSE: case OP_PERMUTE:
        return broken(s, v, v->args[0], "its axes are in another order", depth);
    case OP_EXPAND: return broken(s, v, v->args[0], "an axis is expanded", depth);
    case V_PART: return broken(s, v, v->args[0], "a part of an axis", depth);
    case OP_STRIDED: return broken(s, v, v->args[0], "every second element", depth);
    case OP_NARROW: return broken(s, v, v->args[0], "a part of an axis", depth);
    case V_ITEM: return trace_item(s, v, depth);
    case OP_MUL: case OP_ADD: case OP_SUB: case OP_DIV:
        return trace_pair(s, v->args[0], v->args[1], depth);
    case OP_VIEW: case OP_FLATTEN: return trace_view(s, v, depth);
    case OP_BMM: case OP_ONES: case OP_ZEROS: case OP_FULL: case OP_EMPTY: case OP_MEAN:
    case OP_SUM: return LIES_DENSE;
    case V_CAST: case OP_NEG: case OP_SILU: case OP_GELU: case OP_SIGMOID: case OP_TANH:
    case OP_RELU: case OP_CLAMP: case OP_DROPOUT: case OP_DETACH: case OP_CLONE: case OP_UNSQUEEZE:
    case OP_SQUEEZE: case OP_UNFLATTEN: case OP_POW: case OP_RSQRT: case OP_SQRT:
        return trace(s, v->args[0], depth + 1);
    case V_PARAM: return trace_param(s, v, depth);
    default: return LIES_UNSEEN;
    }
}

// What the view does, and what becomes of the input for it.
static const char *copy_clause(Arena *run, const Match *m, const Requirements *all, uint32_t param,
                               const char *what) {
    for (uint32_t i = 0; i < all->len; i++) {
        const Requirement *r = &all->at[i];
        const Node *func = r->test->kind == N_CALL ? r->test->u.call.func : NULL;
        if (!func || func->kind != N_ATTRIBUTE ||
            !str_is(sym_str(func->u.attribute.attr), "is_contiguous") ||
            func->u.attribute.value->kind != N_NAME) {
            continue;
        }
        int at = requirement_param(r, func->u.attribute.value->u.name.id);
        if (at != (int)param || !m->bound[param]) continue;
        return arena_cstr(run, arena_printf(run, "%s; %s", what, r->state == FACT_PROVEN
            ? "the replacement copies it first, one copy more" : "tested at run time"));
    }
    return arena_cstr(run, arena_printf(run, "%s; the operator's stated limits ask for no copy",
                                        what));
}

static Str input_text(Arena *run, const Candidate *c, uint32_t i) {
    const PlacedInput *in = &c->place->inputs[i];
    Str text = in->made.len ? in->made
        : in->node ? source_span(&c->place->frame->module->source, in->node->start, in->node->end)
                   : in->text;
    if (text.len && text.len <= 60) return arena_str(run, text);
    return arena_str(run, sym_str(c->match.spec->rule->params[i].name));
}

static void link_val(Fact *fact, Arena *run, const Val *v) {
    if (!v || !v->node || !v->module) return;
    Span span = make_span(run, v->module, v->node);
    vec_push(run, &fact->chain, span);
}

// A tensor that the operator reads row by row: no weight, no mask, no number.
static bool is_data(const Candidate *c, uint32_t i) {
    const RuleParam *param = &c->match.spec->rule->params[i];
    bool mask = c->match.attend && i > ATTEND_VALUE;
    const Val *v = c->match.bound[i] ? val_strip(c->match.bound[i]) : NULL;
    if (!v || (v->op == V_ATTR && object_class(v->args[0]))) return false; // self.weight
    return !param->scalar && !param->weight && !mask;
}

// "as called in line 12, "
static Str call_clause(Arena *run, const Candidate *c, const Node *call) {
    if (!call) return STR("");
    uint32_t line = source_line(&c->frame->module->source, call->start);
    return arena_printf(run, "as called in line %u, ", (unsigned)line);
}

static void add_view(Finding *out, Arena *run, const Candidate *c, const Strides *s, Fact fact) {
    bool certain = fact.state == FACT_PROVEN;
    // Another call may give something else.
    if (s->call) fact.state = FACT_UNKNOWN;
    fact.claim = arena_printf(run, "%.*s%.*s %s: %s", STR_FMT(call_clause(run, c, s->call)),
                              STR_FMT(fact.claim),
                              certain ? "is a view that is not contiguous"
                                      : "may be a view that is not contiguous", s->what);
    link_val(&fact, run, s->view);
    vec_push(run, &out->facts, fact);
}

typedef struct Names {
    Buf text;
    const Node *call;
} Names;

static void add_name(Names *names, Str name, const Node *call) {
    if (names->text.len) buf_add(&names->text, STR(", "));
    buf_add(&names->text, name);
    if (call) names->call = call;
}

static void add_names(Finding *out, Arena *run, const Candidate *c, Names *names, Fact fact) {
    if (names->text.len) {
        if (names->call) fact.state = FACT_UNKNOWN;
        fact.claim = arena_printf(run, "%.*s%.*s: %s", STR_FMT(call_clause(run, c, names->call)),
                                  STR_FMT(fact.claim), names->text.at);
        vec_push(run, &out->facts, fact);
    }
    buf_free(&names->text);
}

static void add_contiguity(Finding *out, Arena *run, const Candidate *c, const Requirements *all) {
    Names unseen = {0}, dense = {0};
    for (uint32_t i = 0; i < c->match.spec->rule->param_count; i++) {
        if (!is_data(c, i)) continue;
        Strides s = {.flow = c->frame->flow, .frame = c->frame};
        Lie lie = trace(&s, c->match.bound[i], 0);
        Str name = input_text(run, c, i);
        if (lie == LIES_DENSE) {
            add_name(&dense, name, s.call);
        } else if (!s.view) {
            add_name(&unseen, name, NULL);
        } else {
            Fact fact = {.name = STR("contiguity"), .claim = name,
                         .state = lie == LIES_STRIDED ? FACT_PROVEN : FACT_UNKNOWN};
            s.what = copy_clause(run, &c->match, all, i, s.what);
            add_view(out, run, c, &s, fact);
        }
    }
    add_names(out, run, c, &dense, (Fact){.name = STR("contiguity"), .state = FACT_PROVEN,
                                          .claim = STR("contiguous where it is made")});
    add_names(out, run, c, &unseen, (Fact){.name = STR("contiguity"), .state = FACT_UNKNOWN,
                                           .claim = STR("what was read does not show it")});
}

// ---- the order of axes ----------------------------------------------------------

// Below casts and products with numbers: what gives a table its axes.
static Val *table_root(Val *v) {
    for (int depth = 0; depth < 16; depth++) {
        v = val_strip(v);
        if (v->op != OP_MUL || !val_is_number(v->args[1])) break;
        v = v->args[0];
    }
    return v;
}

// The axis that a table gets for the heads; `*by_default`: a parameter's default
// says so. Returns false where none is seen.
static bool table_axis(Flow *flow, Val *v, int *axis, bool *by_default) {
    v = table_root(v);
    *by_default = v->op == OP_UNSQUEEZE && !val_is_number(v->args[1]);
    if (v->op == OP_UNSQUEEZE) {
        Val *dim = v->args[1];
        if (*by_default) dim = flow_resolve(flow, dim).val;
        if (!dim || !val_is_number(dim) || dim->num < -4 || dim->num > 4) return false;
        *axis = (int)dim->num;
        return true;
    }
    const Val *index = v->op == V_ITEM ? v->args[1] : NULL;
    if (!index || index->op != V_TUPLE) return false;
    for (uint32_t i = 0; i < index->nargs; i++) {
        if (!val_is_none(index->args[i])) continue;
        bool from_end = val_is_ellipsis(index->args[0]);
        *axis = from_end ? -(int)(index->nargs - i) : (int)i;
        return true;
    }
    return false;
}

static const char *axis_layout(int axis) {
    switch (axis) {
    case 1: return "BNSD of 4 axes, TND of 3";
    case 2: return "BSND (or SBND)";
    case -2: return "BSND (or SBND) of 4 axes, TND of 3";
    case -3: return "BNSD";
    default: return NULL;
    }
}

static void add_rope_layout(Finding *out, Arena *run, const Candidate *c) {
    Fact fact = {.name = STR("layout"), .state = FACT_UNKNOWN,
                 .claim = STR("which axis is that of the heads is not shown; the tests of the "
                              "tables' shape hold it at run time")};
    const Rule *rule = c->match.spec->rule;
    for (uint32_t i = 1; i < rule->param_count; i++) {
        int axis;
        bool by_default;
        Val *table = c->match.bound[i];
        if (!is_data(c, i) || !table_axis(c->frame->flow, table, &axis, &by_default)) continue;
        const char *layout = axis_layout(axis);
        if (!layout) continue;
        fact.state = by_default ? FACT_UNKNOWN : FACT_PROVEN;
        fact.claim = arena_printf(run, "the tables are broadcast along axis %d%s: %s", axis,
                                  by_default ? " by the parameter's default" : "", layout);
        link_val(&fact, run, table_root(c->match.bound[i]));
        break;
    }
    vec_push(run, &out->facts, fact);
}

static void add_attention_layout(Finding *out, Arena *run, const Candidate *c) {
    const Val *axes = c->match.attend->form->args[ATTEND_AXES];
    Fact fact = {.name = STR("layout"), .state = FACT_PROVEN};
    if (val_is_str(axes, "BNSD")) {
        fact.claim = STR("the heads stand before the sequence: BNSD, as the operator is told");
    } else if (val_is_str(axes, "BSND")) {
        fact.claim = STR("the heads stand behind the sequence: BSND, as the operator is told");
    } else if (val_is_str(axes, "NSD")) {
        fact.claim = STR("batch and heads are one axis, taken apart for the operator: BNSD");
    } else {
        fact.claim = STR("that of scaled_dot_product_attention: BNSD");
    }
    link_val(&fact, run, attend_below_views(c->match.bound[0]) == c->match.bound[0]
                             ? NULL : c->match.bound[0]);
    vec_push(run, &out->facts, fact);
}

// ---- sizes that change ------------------------------------------------------------

static void add_shape_fact(Finding *out, Arena *run, const Candidate *c) {
    Fact fact = {.name = STR("dynamic_shape"), .state = FACT_UNKNOWN,
                 .claim = STR("static as far as seen: nothing in this function makes a size that "
                              "depends on the data")};
    for (uint32_t i = 0; i < c->match.spec->rule->param_count; i++) {
        if (!is_data(c, i)) continue;
        Dynamic found = find_dynamic(c->frame, c->match.bound[i]);
        if (!found.what) continue;
        fact.state = found.certain && !found.call ? FACT_PROVEN : FACT_UNKNOWN;
        const char *verb = found.certain ? "changes from run to run" : "may change";
        fact.claim = arena_printf(run, "%.*sa size of %.*s %s: %s",
                                  STR_FMT(call_clause(run, c, found.call)),
                                  STR_FMT(input_text(run, c, i)), verb, found.what);
        link_val(&fact, run, found.at);
        break;
    }
    vec_push(run, &out->facts, fact);
}

void add_input_facts(Finding *out, Arena *run, const Candidate *c, const Requirements *all) {
    add_contiguity(out, run, c, all);
    if (c->match.attend) add_attention_layout(out, run, c);
    else if (str_is(c->match.spec->rule->family, "rope")) add_rope_layout(out, run, c);
    add_shape_fact(out, run, c);
}
