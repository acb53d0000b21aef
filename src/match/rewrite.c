// rewrite.c - writes the guarded replacement.
//
// Texts are made by copying source and putting expressions in place of names
// and nodes, so that what the user wrote stays as written.
#include "base/base.h"

#include "match/rewrite.h"

#include "match/compose.h"
#include "match/inserts.h"
#include "match/ranks.h"
#include "match/result_dtype.h"
#include "match/sizes.h"
#include "match/stated.h"
#include "match/text.h"

// ---- the rule's replacement -------------------------------------------------

typedef struct Writer {
    Arena *arena;
    const Place *place;
    const Spec *spec;
    const SourceText *rule_source;
    Str texts[RULE_MAX_PARAMS];   // expression of each parameter
    const Sym *local_names[8];    // names that replacement() binds
    Str local_texts[8];
    uint32_t local_count;
    VEC(Str) lines; // statements before the result
    Str result;
    Val *op_dtype;  // dtype of what the operator returns
    uint32_t cast_params; // bits: parameters in the operator's first argument
    const char *fault;
} Writer;

static Str name_text(const Writer *w, const Sym *name) {
    for (uint32_t i = w->local_count; i-- > 0;) {
        if (w->local_names[i] == name) return w->local_texts[i];
    }
    int p = rule_param(w->spec->rule, name);
    if (p < 0) return (Str){0};
    const RuleParam *param = &w->spec->rule->params[p];
    // A flag as a value, and an input that is absent in this alternative.
    if (param->flag) return w->spec->flags[p] ? STR("True") : STR("False");
    if (param->optional && !w->spec->params[p]) return STR("None");
    return w->texts[p];
}

static bool add_name_patches(Node *node, void *data);

typedef struct PatchWalk {
    Writer *w;
    Patches list;
} PatchWalk;

static Str write_expr(Writer *w, Node *node) {
    PatchWalk walk = {.w = w};
    add_name_patches(node, &walk);
    return patched(w->arena, w->rule_source, node->start, node->end, &walk.list);
}

static Val *param_value(const Writer *w, const Node *node) {
    if (node->kind != N_NAME) return NULL;
    int p = rule_param(w->spec->rule, node->u.name.id);
    return p >= 0 ? w->place->inputs[p].val : NULL;
}

static Val *dtype_of_node(const Writer *w, const Node *node) {
    if (node->kind != N_ATTRIBUTE ||
        !str_is(sym_str(node->u.attribute.attr), "dtype")) {
        return NULL;
    }
    Val *x = param_value(w, node->u.attribute.value);
    return x ? placed_dtype(w->place, x) : NULL;
}

// What the test of `a if test else b` is: 1, 0, or -1 if only run time knows.
static int known_test(const Writer *w, const Node *test) {
    int truth = spec_truth(w->spec, test);
    if (truth >= 0) return truth;
    if (test->kind != N_COMPARE || test->u.compare.comparators.len != 1 ||
        test->u.compare.ops[0] != A_EQ || w->cast_params) {
        return -1;
    }
    Val *a = dtype_of_node(w, test->u.compare.left);
    Val *b = dtype_of_node(w, test->u.compare.comparators.at[0]);
    return a && a == b ? 1 : -1;
}

// widened(x, a, b): x in the promoted dtype of all.
static Str write_widened(Writer *w, const NodeList *args) {
    Str x = write_expr(w, args->at[0]);
    if (w->cast_params) return x; // all were cast to one dtype before
    Val *vals[RULE_MAX_PARAMS];
    uint32_t n = 0;
    for (uint32_t i = 0; i < args->len && n < RULE_MAX_PARAMS; i++) {
        Val *v = param_value(w, args->at[i]);
        if (v) vals[n++] = v;
    }
    if (n == 0) return x;
    Val *all = val_new(&w->place->frame->flow->graph, V_TUPLE, vals, n);
    Val *dtype = placed_dtype(w->place, all);
    if (dtype == placed_dtype(w->place, vals[0])) return x;
    Str text = dtype_text(w->place, dtype);
    if (!text.len) w->fault = "the promoted dtype of the inputs cannot be written";
    x = text_atom(w->arena, x);
    return arena_printf(w->arena, "%.*s.to(%.*s)", STR_FMT(x), STR_FMT(text));
}

// ranked(table, x, of): table with the leading axes that it lacks beside x.
static Str write_ranked(Writer *w, const NodeList *args) {
    const Val *of = param_value(w, args->at[args->len == 3 ? 2 : 0]);
    const Val *x = param_value(w, args->at[1]);
    Str table = text_atom(w->arena, write_expr(w, args->at[0]));
    uint32_t count;
    Lack lack = of && x ? lacking_axes(of, placed_rank(w->place, of), placed_rank(w->place, x),
                                       &count)
                        : LACK_OPEN;
    if (lack == LACK_NONE) return table;
    if (lack == LACK_KNOWN) {
        Str axes = STR("None");
        while (--count) axes = arena_printf(w->arena, "%.*s, None", STR_FMT(axes));
        return arena_printf(w->arena, "%.*s[%.*s]", STR_FMT(table), STR_FMT(axes));
    }
    Str wide = text_atom(w->arena, write_expr(w, args->at[1]));
    return arena_printf(w->arena, "%.*s[(None,) * (%.*s.dim() - %.*s.dim())]", STR_FMT(table),
                        STR_FMT(wide), STR_FMT(table));
}

// contiguous(x), cast_like(y, ref), widened(x, a, b) and ranked(t, x) of npufuse.rule
static bool write_helper(PatchWalk *walk, Node *call) {
    Writer *w = walk->w;
    if (call->u.call.func->kind != N_NAME) return false;
    Str name = sym_str(call->u.call.func->u.name.id);
    NodeList args = call->u.call.args;
    Str text;
    if (str_is(name, "contiguous") && args.len == 1) {
        Val *x = param_value(w, args.at[0]);
        Str inner = text_atom(w->arena, write_expr(w, args.at[0]));
        bool proven = x && is_contiguous(w->place->frame->flow, x);
        text = proven ? inner
                      : arena_printf(w->arena, "%.*s.contiguous()", STR_FMT(inner));
    } else if (str_is(name, "cast_like") && args.len == 2) {
        Str y = text_atom(w->arena, write_expr(w, args.at[0]));
        Str ref = text_atom(w->arena, write_expr(w, args.at[1]));
        text = arena_printf(w->arena, "%.*s.to(%.*s.dtype)", STR_FMT(y), STR_FMT(ref));
    } else if (str_is(name, "widened") && args.len >= 1) {
        text = write_widened(w, &args);
    } else if (str_is(name, "ranked") && (args.len == 2 || args.len == 3)) {
        text = write_ranked(w, &args);
    } else {
        return false;
    }
    patch_add(w->arena, &walk->list,
                  (Patch){call->start, call->end, text});
    return true;
}

static bool add_name_patches(Node *node, void *data) {
    PatchWalk *walk = data;
    Writer *w = walk->w;
    if (node->kind == N_CALL && write_helper(walk, node)) return true;
    if (node->kind == N_IF_EXP) {
        int truth = known_test(w, node->u.if_exp.test);
        if (truth >= 0) {
            Node *arm = truth ? node->u.if_exp.body : node->u.if_exp.orelse;
            patch_add(w->arena, &walk->list,
                  (Patch){node->start, node->end, write_expr(w, arm)});
            return true;
        }
    }
    if (node->kind == N_NAME && node->ctx == CTX_LOAD) {
        Str text = name_text(w, node->u.name.id);
        if (text.len) {
            patch_add(w->arena, &walk->list,
                  (Patch){node->start, node->end, text_atom(w->arena, text)});
        }
        return true;
    }
    if (node->kind == N_KEYWORD) {
        return add_name_patches(node->u.keyword.value, data);
    }
    return node_children(node, add_name_patches, data);
}

static void write_assign(Writer *w, Node *stmt) {
    Node *target = stmt->u.assign.targets.at[0];
    if (w->local_count + 2 > 8) {
        w->fault = "the rule's replacement binds too many names";
        return;
    }
    Str value = text_squeeze(w->arena, write_expr(w, stmt->u.assign.value));
    Str names = {0};
    NodeList elts = {&target, 1};
    if (target->kind == N_TUPLE) elts = target->u.list.elts;
    for (uint32_t i = 0; i < elts.len; i++) {
        if (elts.at[i]->kind != N_NAME || w->local_count == 8) {
            w->fault = "the rule's replacement assigns to more than names";
            return;
        }
        Str name = place_fresh_name(w->place, sym_str(elts.at[i]->u.name.id));
        w->local_names[w->local_count] = elts.at[i]->u.name.id;
        w->local_texts[w->local_count++] = name;
        names = i == 0 ? name : arena_printf(w->arena, "%.*s, %.*s", STR_FMT(names),
                                             STR_FMT(name));
    }
    vec_push(w->arena, &w->lines, arena_printf(w->arena, "%.*s = %.*s",
                                               STR_FMT(names), STR_FMT(value)));
}

// Writes statements up to the return that this alternative reaches.
static bool write_block(Writer *w, const NodeList *block) {
    for (uint32_t i = 0; i < block->len && !w->fault; i++) {
        Node *stmt = block->at[i];
        if (stmt->kind == N_IF) {
            int truth = known_test(w, stmt->u.while_.test);
            if (truth < 0) w->fault = "the rule's replacement branches on what only run time knows";
            if (truth == 1 && write_block(w, &stmt->u.while_.body)) return true;
            if (truth == 0 && write_block(w, &stmt->u.while_.orelse)) return true;
        } else if (stmt->kind == N_ASSIGN && stmt->u.assign.targets.len == 1) {
            write_assign(w, stmt);
        } else if (stmt->kind == N_RETURN && stmt->u.return_.value) {
            w->result = text_squeeze(w->arena, write_expr(w, stmt->u.return_.value));
            return true;
        }
    }
    return false;
}

// ---- dtype of the operator's result -----------------------------------------

typedef struct FirstArg {
    Writer *w;
    Node *arg;
} FirstArg;

static bool search_first_arg(Node *node, void *data) {
    FirstArg *search = data;
    if (node->kind == N_IF) {
        int truth = spec_truth(search->w->spec, node->u.while_.test);
        const NodeList *arm = truth == 0 ? &node->u.while_.orelse : &node->u.while_.body;
        for (uint32_t i = 0; i < arm->len; i++) {
            if (!search_first_arg(arm->at[i], data)) return false;
        }
        return true;
    }
    if (node->kind == N_CALL && node->u.call.func->kind == N_ATTRIBUTE &&
        node->u.call.args.len &&
        str_eq(sym_str(node->u.call.func->u.attribute.attr),
               search->w->spec->rule->operator_)) {
        search->arg = node->u.call.args.at[0];
        return false;
    }
    return node_children(node, search_first_arg, data);
}

typedef struct ParamBits {
    const Writer *w;
    uint32_t bits;
} ParamBits;

static bool collect_params(Node *node, void *data) {
    ParamBits *search = data;
    if (node->kind == N_NAME) {
        int p = rule_param(search->w->spec->rule, node->u.name.id);
        const Spec *spec = search->w->spec;
        if (p >= 0 && spec->params[p] && !spec->rule->params[p].scalar) {
            search->bits |= 1u << p;
        }
        return true;
    }
    return node_children(node, collect_params, data);
}

static Node *first_arg(Writer *w) {
    FirstArg search = {.w = w};
    node_children(w->spec->rule->replacement, search_first_arg, &search);
    return search.arg;
}

// Whether the rule itself casts the operator's first argument: x.float(),
// x.to(...). `*dtype` is what to, or NULL where that is not plain to see.
static bool is_cast_by_rule(const Writer *w, const Node *arg, Val **dtype) {
    static const char *const names[] = {"float", "to", "half", "bfloat16", "double", "type",
                                        "type_as"};
    *dtype = NULL;
    // What a local name holds may have been cast on the way.
    if (arg && arg->kind == N_NAME) return rule_param(w->spec->rule, arg->u.name.id) < 0;
    if (!arg || arg->kind != N_CALL || arg->u.call.func->kind != N_ATTRIBUTE) return false;
    Str name = sym_str(arg->u.call.func->u.attribute.attr);
    bool cast = false;
    for (size_t i = 0; i < COUNT(names); i++) cast |= str_is(name, names[i]);
    if (cast && str_is(name, "float")) {
        *dtype = val_global(&w->place->frame->flow->graph, STR("torch.float32"));
    }
    return cast;
}

// The parameters that make up the operator's first argument: its result has
// their promoted dtype.
static uint32_t first_arg_params(Writer *w) {
    Node *arg = first_arg(w);
    if (!arg) return 0;
    ParamBits params = {.w = w};
    collect_params(arg, &params);
    if (params.bits) return params.bits;
    for (uint32_t p = 0; p < w->spec->rule->param_count; p++) { // a local name
        if (w->spec->params[p] && !w->spec->rule->params[p].scalar) return 1u << p;
    }
    return 0;
}

static Val *operator_dtype(const Writer *w, uint32_t params) {
    Val *vals[RULE_MAX_PARAMS];
    uint32_t n = 0;
    for (uint32_t p = 0; p < w->spec->rule->param_count; p++) {
        if (params >> p & 1) vals[n++] = w->place->inputs[p].val;
    }
    Flow *flow = w->place->frame->flow;
    if (n == 1) return placed_dtype(w->place, vals[0]);
    return placed_dtype(w->place, val_new(&flow->graph, V_TUPLE, vals, n));
}

// `(a if c else b)` as an argument of its own needs no parentheses; dtype_text
// writes them around conditions only.
static Str as_argument(Str text) {
    bool wrapped = text.len > 2 && text.at[0] == '(' && text.at[text.len - 1] == ')';
    return wrapped ? (Str){text.at + 1, text.len - 2} : text;
}

static void cast_inputs(Writer *w, uint32_t params, Str dtype) {
    dtype = as_argument(dtype);
    for (uint32_t p = 0; p < w->spec->rule->param_count; p++) {
        if (!(params >> p & 1)) continue;
        Str name = place_fresh_name(w->place, w->spec->rule->params[p].name
                                        ? sym_str(w->spec->rule->params[p].name)
                                        : STR("x"));
        if (str_eq(name, w->texts[p])) {
            name = arena_printf(w->arena, "npu_%.*s", STR_FMT(name));
        }
        Str x = text_atom(w->arena, w->texts[p]);
        vec_push(w->arena, &w->lines,
                 arena_printf(w->arena, "%.*s = %.*s.to(%.*s)", STR_FMT(name),
                              STR_FMT(x), STR_FMT(dtype)));
        w->texts[p] = name;
    }
    w->cast_params = params;
}

// Writes lines and result so that the result has the original's dtype. The
// operator rounds once, to its input's dtype: where the original's result is
// wider, the input is made wider first; where that is unknown the operator
// works in float32 and its result is cast.
static void write_replacement(Writer *w, Rewrite *out) {
    const Place *place = w->place;
    Val *want = result_dtype(place);
    uint32_t params = first_arg_params(w);
    Val *fixed, *have = params ? operator_dtype(w, params) : NULL;
    bool by_rule = is_cast_by_rule(w, first_arg(w), &fixed);
    out->dtype_out = dtype_text(place, want);
    if (!have || !out->dtype_out.len) {
        w->fault = "the dtype of the result cannot be written";
        return;
    }
    bool equal = by_rule ? fixed == want : have == want;
    bool wider = !equal && !by_rule && dtype_is_wider(want, have);
    out->dtype_cast = !equal;
    out->casts_input = wider;
    Val *own = by_rule ? fixed : have; // NULL: not plain to see
    if (!equal && own) out->dtype_operator = dtype_text(place, own);
    // What the rule casts itself is as wide as it wants; the result may need a cast.
    if (wider) cast_inputs(w, params, out->dtype_out);
    else if (!equal && !by_rule) cast_inputs(w, params, STR("torch.float32"));
    const NodeList *body = &w->spec->rule->replacement->u.function->body;
    if (!write_block(w, body) && !w->fault) {
        w->fault = "the rule's replacement returns nothing for this alternative";
    }
    // Autocast may give an operator of torch itself another dtype.
    bool certain = (equal || wider) && !w->spec->rule->plain_torch;
    if (w->fault || certain) return;
    Str result = w->result, dtype = as_argument(out->dtype_out);
    w->result = arena_printf(w->arena, "%.*s.to(%.*s)", STR_FMT(result), STR_FMT(dtype));
}

// `x is None` as the opposite of `x is not None`, else `not (test)`.
Str branch_text(const Place *place, const Branch *branch) {
    Flow *flow = place->frame->flow;
    Val test = *branch->cond;
    bool none_test = test.op == V_PYOP && (test.ck == A_IS || test.ck == A_IS_NOT);
    bool negated = test.op == V_PYOP && test.ck == A_NOT;
    Val *cond = branch->cond;
    if (!branch->holds && none_test) {
        Val other = {.op = V_PYOP, .ck = test.ck == A_IS ? A_IS_NOT : A_IS,
                     .nargs = test.nargs, .args = test.args};
        cond = val_intern(&flow->graph, &other);
    } else if (!branch->holds) {
        Val other = {.op = V_PYOP, .ck = A_NOT, .nargs = 1, .args = &cond};
        cond = negated ? test.args[0] : val_intern(&flow->graph, &other);
    }
    Str text = compose_expr(place, cond, place->first);
    return cond->op == V_PYOP && (cond->ck == A_OR || cond->ck == A_AND)
        ? text_atom(flow->arena, text) : text;
}

typedef struct Mention {
    const Sym *name;
    bool found;
} Mention;

static bool search_mention(Node *node, void *data) {
    Mention *m = data;
    if (node->kind == N_NAME && node->u.name.id == m->name) m->found = true;
    return node_children(node, search_mention, data);
}

static bool mentions(Node *node, const Sym *name) {
    Mention m = {name, false};
    search_mention(node, &m);
    return m.found;
}

// ---- guards -----------------------------------------------------------------

Str requirement_text(const Place *place, const Requirement *r, bool at_start) {
    Arena *arena = place->frame->flow->arena;
    Writer w = {.arena = arena, .place = place, .spec = place->match->spec,
                .rule_source = &r->module->source};
    for (uint32_t i = 0; i < r->name_count; i++) {
        if (r->args[i] < 0 || w.local_count == 8) continue;
        const PlacedInput *in = &place->inputs[r->args[i]];
        w.local_names[w.local_count] = r->names[i];
        w.local_texts[w.local_count++] = at_start ? in->start : in->text;
    }
    // A name without an expression there makes the whole term unusable.
    PatchWalk walk = {.w = &w};
    add_name_patches(r->test, &walk);
    for (uint32_t i = 0; i < r->name_count; i++) {
        if (r->args[i] < 0 || !place->match->bound[r->args[i]]) continue;
        Str text = at_start ? place->inputs[r->args[i]].start
                            : place->inputs[r->args[i]].text;
        if (!text.len && mentions(r->test, r->names[i])) return (Str){0};
    }
    return text_squeeze(arena, patched(arena, w.rule_source, r->test->start, r->test->end,
                                       &walk.list));
}

static void add_term(Buf *buf, Str term) {
    if (!term.len) return;
    if (buf->len) buf_add(buf, STR(" and "));
    buf_add(buf, term);
}

static bool is_or_test(const Node *test) {
    return test->kind == N_BOOL_OP || test->kind == N_IF_EXP || test->kind == N_LAMBDA;
}

// What was assumed about activations, as terms.
static bool add_assumptions(Buf *buf, const Place *place) {
    const Assumption *made[ASSUMPTIONS_MAX];
    uint32_t count = match_assumptions(place->frame, place->match, made);
    for (uint32_t i = 0; i < count; i++) {
        if (!made[i]->from_config) continue;
        Str term = assumption_text(place, made[i]);
        if (!term.len) return false;
        add_term(buf, term);
    }
    // More than there is room for cannot be tested.
    return count < ASSUMPTIONS_MAX;
}

Str default_text(const Place *place, const DefaultNumber *number) {
    Str subject = place_expr_start(place, number->subject);
    if (!subject.len) return subject;
    Arena *arena = place->frame->flow->arena;
    if (number->axes) {
        return arena_printf(arena, "tuple(%.*s) == (%g,)", STR_FMT(subject), number->num);
    }
    return arena_printf(arena, "%.*s == %g", STR_FMT(subject), number->num);
}

Str last_axis_text(const Place *place, bool at_start) {
    const Rule *rule = place->match->spec->rule;
    for (uint32_t i = 0; i < rule->param_count; i++) {
        if (!str_eq(sym_str(rule->params[i].name), rule->part)) continue;
        const PlacedInput *in = &place->inputs[i];
        Str text = at_start ? in->start : in->text;
        if (!text.len) return text;
        Arena *arena = place->frame->flow->arena;
        return arena_printf(arena, "%.*s.dim() == %u", STR_FMT(text_atom(arena, text)),
                            (unsigned)place->match->last_axis + 1);
    }
    return (Str){0};
}

static void add_last_axis(Buf *outer, Buf *inner, const Place *place) {
    if (!place->match->last_axis) return;
    Str term = last_axis_text(place, true);
    Buf *where = term.len ? outer : inner;
    add_term(where, term.len ? term : last_axis_text(place, false));
}

// 2 * d == x.shape[-1] of x[..., :d] and x[..., d:], where nothing that is computed of
// them needs equal parts. False if it cannot be written.
static bool add_cut(Buf *outer, Buf *inner, const Place *place) {
    const Match *m = place->match;
    if (!m->cut_at || m->spec->halves_meet) return true;
    Arena *arena = place->frame->flow->arena;
    for (int late = 0; late < 2; late++) {
        uint32_t at = late ? place->last : place->first;
        Str cut = compose_expr(place, m->cut_at, at);
        Str x = place_expr_at(place, m->cut_tensor, at);
        if (late && !x.len) x = place_expr(place, val_strip(m->cut_tensor));
        if (!cut.len || !x.len) continue;
        cut = text_atom(arena, cut);
        add_term(late ? inner : outer, arena_printf(arena, "2 * %.*s == %.*s.shape[-1]",
                                                    STR_FMT(cut), STR_FMT(text_atom(arena, x))));
        return true;
    }
    return false;
}

// What numbers are by default, as terms.
static bool add_defaults(Buf *buf, const Place *place) {
    const Match *m = place->match;
    for (uint32_t i = 0; i < m->default_count; i++) {
        Str text = default_text(place, &m->defaults[i]);
        if (!text.len) return false;
        add_term(buf, text);
    }
    return true;
}

// The choices of which one arm was taken, as terms.
static bool add_branches(Buf *buf, const Place *place) {
    const Attend *attend = place->match->attend;
    for (uint32_t i = 0; attend && i < attend->branches.len; i++) {
        Str text = branch_text(place, &attend->branches.at[i]);
        if (!text.len) return false;
        add_term(buf, text);
    }
    for (uint32_t i = 0; i < place->match->choice_count; i++) {
        Str text = branch_text(place, &place->match->choices[i]);
        if (!text.len) return false;
        add_term(buf, text);
    }
    return true;
}

typedef struct Guards {
    Str outer, inner; // inner may be empty
} Guards;

static Str device_tensor(const Place *place, bool at_start) {
    const Rule *rule = place->match->spec->rule;
    for (uint32_t i = 0; i < rule->param_count; i++) {
        if (!place->match->bound[i] || rule->params[i].scalar) continue;
        if (place->match->attend && rule->params[i].optional) continue; // None, at times
        Str text = at_start ? place->inputs[i].start : place->inputs[i].text;
        if (text.len) return text;
    }
    return (Str){0};
}

// Where no tensor is at hand at the start, the operator alone is tested there.
static void add_device_test(Buf *outer, Buf *inner, const Place *place) {
    Arena *arena = place->frame->flow->arena;
    Str op = place->match->spec->rule->operator_;
    Str tensor = device_tensor(place, true);
    if (tensor.len) {
        add_term(outer, arena_printf(arena, "npu_fused_ready(\"%.*s\", %.*s)", STR_FMT(op),
                                     STR_FMT(tensor)));
        return;
    }
    tensor = device_tensor(place, false);
    add_term(outer, arena_printf(arena, "npu_fused_ready(\"%.*s\")", STR_FMT(op)));
    add_term(inner, arena_printf(arena, "npu_fused_ready(\"%.*s\", %.*s)", STR_FMT(op),
                                 STR_FMT(tensor)));
}

static bool make_guards(Guards *out, const RewriteInput *in) {
    const Place *place = in->place;
    Arena *arena = place->frame->flow->arena;
    const Rule *rule = place->match->spec->rule;
    Buf outer = {0}, inner = {0};
    add_term(&outer, in->switch_expr);
    if (!rule->plain_torch) add_device_test(&outer, &inner, place);
    bool ok = add_assumptions(&outer, place) && add_defaults(&outer, place) &&
              add_branches(&outer, place);
    add_last_axis(&outer, &inner, place);
    ok = add_cut(&outer, &inner, place) && ok;
    bool trains = str_is(rule->op_autograd, "differentiable");
    if (!trains) add_term(&outer, STR("not torch.is_grad_enabled()"));
    for (uint32_t i = 0; i < in->requirements->len; i++) {
        const Requirement *r = &in->requirements->at[i];
        if (r->state != FACT_UNKNOWN) continue;
        Str term = requirement_text(place, r, true);
        Buf *where = term.len ? &outer : &inner;
        if (!term.len) term = requirement_text(place, r, false);
        if (is_or_test(r->test)) term = text_atom(arena, term);
        add_term(where, term);
    }
    out->outer = arena_str(arena, buf_str(&outer));
    out->inner = arena_str(arena, buf_str(&inner));
    buf_free(&outer);
    buf_free(&inner);
    return ok;
}

// ---- the whole replacement --------------------------------------------------

static void hoist_patches(const Place *place, Arena *arena, Patches *list,
                          uint32_t at) {
    for (uint32_t i = 0; i < place->match->spec->rule->param_count; i++) {
        const PlacedInput *in = &place->inputs[i];
        if (in->node && !in->made.len && in->at == at) {
            patch_add(arena, list,
                  (Patch){in->node->start, in->node->end, in->name});
        }
    }
}

// `name = expression` for the inputs that statement `at` holds, in order.
static void put_hoists(Lines *out, const Place *place, Arena *arena, uint32_t at) {
    const SourceText *source = &place->frame->module->source;
    uint32_t done = 0;
    for (;;) {
        const PlacedInput *next = NULL;
        uint32_t which = 0;
        for (uint32_t i = 0; i < place->match->spec->rule->param_count; i++) {
            const PlacedInput *in = &place->inputs[i];
            if (!in->node || in->at != at || done >> i & 1) continue;
            if (!next || in->node->start < next->node->start) {
                next = in;
                which = i;
            }
        }
        if (!next) return;
        done |= 1u << which;
        Patches sizes = {0};
        size_patches(place, at, next->node, &sizes);
        Str expr = next->made.len ? next->made
            : patched(arena, source, next->node->start, next->node->end, &sizes);
        bool breaks = memchr(expr.at, '\n', expr.len) != NULL;
        put_statement(out, 1, arena_printf(arena, breaks ? "%.*s = (%.*s)" : "%.*s = %.*s",
                                           STR_FMT(next->name), STR_FMT(expr)));
    }
}

static Str root_text(const Place *place, Arena *arena, Str result) {
    const SourceText *source = &place->frame->module->source;
    const Node *root = place->record->stmt, *expr = place->record->node;
    if (root == expr) { // x *= y
        const Node *target = root->u.aug_assign.target;
        Str name = source_span(source, target->start, target->end);
        return arena_printf(arena, "%.*s = %.*s", STR_FMT(name), STR_FMT(result));
    }
    Patches list = {0};
    patch_add(arena, &list,
                  (Patch){expr->start, expr->end, result});
    return patched(arena, source, root->start, root->end, &list);
}

// In the inner else: what was left out, and the last statement, with the
// inputs that are evaluated already.
static void put_inner_else(Lines *out, const Place *place, Arena *arena) {
    const SourceText *source = &place->frame->module->source;
    for (uint32_t i = place->first; i <= place->last; i++) {
        if (i < place->last && place->kept[i]) continue;
        const Node *stmt = place->infos[i]->stmt;
        Patches list = {0};
        hoist_patches(place, arena, &list, i);
        put_statement(out, 2, patched(arena, source, stmt->start, stmt->end, &list));
    }
}

static void put_fused(Lines *out, Writer *w, const Guards *guards) {
    const Place *place = w->place;
    const SourceText *source = &place->frame->module->source;
    for (uint32_t i = place->first; i < place->last; i++) {
        const Node *stmt = place->infos[i]->stmt;
        Patches sizes = {0};
        if (place->kept[i]) size_patches(place, i, place->infos[i]->stmt, &sizes);
        if (sizes.len) {
            put_statement(out, 1, patched(w->arena, source, stmt->start, stmt->end, &sizes));
        } else if (place->kept[i]) {
            put_source_lines(out, source, source_line(source, stmt->start),
                             source_line(source, stmt->end), 1);
        } else {
            put_hoists(out, place, w->arena, i);
        }
    }
    put_hoists(out, place, w->arena, place->last);
    for (uint32_t i = 0; i < place->released_count; i++) {
        put_line(out, 1, arena_printf(w->arena, "%s = None", place->released[i]->text));
    }
    uint32_t level = 1;
    if (guards->inner.len) put_condition(out, level++, guards->inner);
    for (uint32_t i = 0; i < w->lines.len; i++) put_line(out, level, w->lines.at[i]);
    put_statement(out, level, root_text(place, w->arena, w->result));
    if (!guards->inner.len) return;
    put_line(out, 1, STR("else:"));
    put_inner_else(out, place, w->arena);
}

static void fill_writer(Writer *w) {
    const Rule *rule = w->spec->rule;
    for (uint32_t i = 0; i < rule->param_count; i++) {
        if (w->place->match->bound[i]) {
            w->texts[i] = w->place->inputs[i].text;
        } else if (rule->params[i].scalar && rule->params[i].fallback) {
            const Node *d = rule->params[i].fallback;
            w->texts[i] = source_span(w->rule_source, d->start, d->end);
        } else if (rule->params[i].optional) {
            w->texts[i] = STR("None");
        }
    }
}

// False at the end of a file whose last line has none.
static bool ends_line(Str text) {
    return text.len && (text.at[text.len - 1] == '\n' || text.at[text.len - 1] == '\r');
}

void rewrite_match(Rewrite *out, Arena *run, const RewriteInput *in) {
    *out = (Rewrite){0};
    const Place *place = in->place;
    const SourceText *source = &place->frame->module->source;
    const Node *first = place->infos[place->first]->stmt;
    const Node *last = place->infos[place->last]->stmt;
    out->start_line = source_line(source, first->start);
    out->end_line = source_line(source, last->end ? last->end - 1 : 0);
    out->original = source_lines(run, source, out->start_line, out->end_line);
    Arena *arena = place->frame->flow->arena;
    Writer w = {.arena = arena, .place = place, .spec = place->match->spec,
                .rule_source = &place->match->spec->rule->module->source};
    fill_writer(&w);
    write_replacement(&w, out);
    Guards guards;
    if (!w.fault && !make_guards(&guards, in)) {
        w.fault = "what a default decides cannot be tested where the replacement would stand";
    }
    if (!w.fault && guards.inner.len && !place_rereads(place)) {
        w.fault = "a statement in between binds a name anew that the original reads before";
    }
    out->fault = w.fault;
    if (w.fault) return;
    Lines lines = {.newline = file_newline(source), .unit = indent_unit(source)};
    uint32_t line_start = source->lines[out->start_line - 1];
    lines.indent = source_span(source, line_start, first->start);
    put_condition(&lines, 0, guards.outer);
    put_fused(&lines, &w, &guards);
    put_line(&lines, 0, STR("else:"));
    put_source_lines(&lines, source, out->start_line, out->end_line, 1);
    Str text = buf_str(&lines.buf);
    if (!ends_line(out->original)) text.len -= lines.newline.len;
    out->replacement = arena_str(run, text);
    buf_free(&lines.buf);
    out->dtype_out = arena_str(run, out->dtype_out);
    out->dtype_operator = arena_str(run, out->dtype_operator);
    InsertWish wish = {place->frame->module, in->switch_definition,
                       !place->match->spec->rule->plain_torch, place->match->spec->rule->module,
                       out->replacement, out->start_line, &out->available};
    if (!inserts_last(&wish)) {
        out->fault = "the module deletes torch or torch_npu again, which the replacement needs";
        return;
    }
    make_inserts(&out->inserts, run, &wish);
}
