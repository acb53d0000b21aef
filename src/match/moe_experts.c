// moe_experts.c - loops over experts.
//
// A loop is one when, for the expert e of a pass, some rows of the tokens are
// taken, go through what e owns, and are added back at the same rows:
//   rows = where(index == e);  out[rows] += w[rows] * f_e(x[rows])
// Four things are asked of it, each a fact: that the rows come from the routing,
// that the result is added at the rows that were read, that the routing weight is
// applied, and that what depends on e is e's own weight.
#include "base/base.h"

#include "flow/call_of.h"
#include "match/matcher.h"
#include "match/moe.h"

typedef struct Added { // "out[rows] += value", however it is written
    Val *rows, *value;
    const EvalRecord *record; // of a call; NULL
    const Node *stmt;
    bool written; // "out[rows] = value": the rows of an expert are its own
} Added;

static Val *argument(Val *call, uint32_t at, const char *name) {
    return value_argument(call, at, name);
}

// out.index_put_((rows,), value, accumulate=True)
static bool read_put(Added *out, const EvalRecord *record) {
    Val *v = record->val;
    if (!value_of_call(v, "index_put_") && !value_of_call(v, "index_put")) return false;
    Val *rows = argument(v, 0, "indices"), *value = argument(v, 1, "values");
    Val *adds = argument(v, 2, "accumulate");
    if (!rows || !value || !adds || val_truth(adds) != 1) return false;
    if ((rows->op == V_TUPLE || rows->op == V_LIST) && rows->nargs) rows = rows->args[0];
    *out = (Added){.rows = rows, .value = val_strip(value), .record = record,
                   .stmt = moe_stmt(record)};
    return true;
}

static bool read_call(Added *out, const EvalRecord *record) {
    static const char *const names[] = {"index_add_", "index_add", "scatter_add_", "scatter_add",
                                        "scatter_reduce_"};
    Val *v = record->val;
    if (!v || v->op != V_CALL) return false;
    if (read_put(out, record)) return true;
    for (size_t i = 0; i < COUNT(names); i++) {
        if (!value_of_call(v, names[i])) continue;
        Val *rows = argument(v, 1, "index");
        Val *value = argument(v, 2, i < 2 ? "source" : "src");
        if (!rows || !value) return false;
        *out = (Added){.rows = rows, .value = val_strip(value), .record = record,
                       .stmt = moe_stmt(record)};
        return true;
    }
    return false;
}

// "y.mul_(w)" as a statement of the loop changes what y is: the value of the last one
// in front of the call that takes y, or NULL.
static Val *changed_in_place(const Frame *f, const Node *loop, const Node *call, const Node *y) {
    Val *value = NULL;
    for (uint32_t i = 0; y->kind == N_NAME && i < f->evals.len; i++) {
        const Node *node = f->evals.at[i].node;
        if (node->kind != N_CALL || node->start < loop->start) continue;
        if (node->start >= call->start) continue;
        const Node *func = node->u.call.func;
        if (func->kind != N_ATTRIBUTE || func->u.attribute.value->kind != N_NAME) continue;
        if (func->u.attribute.value->u.name.id != y->u.name.id) continue;
        if (str_ends(sym_str(func->u.attribute.attr), "_")) value = f->evals.at[i].val;
    }
    return value;
}

// Fills in the value where a statement in front has changed it.
static void follow_change(Added *added, const Frame *f, const Node *loop) {
    const Node *call = added->record->node;
    if (!loop || added->value->op != V_OPAQUE || call->kind != N_CALL) return;
    if (call->u.call.args.len < 3) return;
    Val *value = changed_in_place(f, loop, call, call->u.call.args.at[2]);
    if (value) added->value = val_strip(value);
}

// out[rows] += value, out[rows] = value.
static bool read_statement(Added *out, const Frame *f, const Node *stmt) {
    const Node *target = NULL, *right = NULL;
    bool written = stmt->kind == N_ASSIGN && stmt->u.assign.targets.len == 1;
    if (stmt->kind == N_AUG_ASSIGN && stmt->op == A_ADD) {
        target = stmt->u.aug_assign.target;
        right = stmt->u.aug_assign.value;
    } else if (written) {
        target = stmt->u.assign.targets.at[0];
        right = stmt->u.assign.value;
    }
    if (!target || target->kind != N_SUBSCRIPT) return false;
    Val *rows = node_val(f->mf, target->u.subscript.slice), *value = node_val(f->mf, right);
    if (!rows || !value) return false;
    if (rows->op == V_TUPLE && rows->nargs) rows = rows->args[0];
    *out = (Added){.rows = rows, .value = val_strip(value), .stmt = stmt, .written = written};
    return true;
}

// Below views and squeezes of an index.
static Val *index_below(Val *v) {
    for (int i = 0; i < 12; i++) {
        Val *x = value_of_call(v, "tolist");
        if (!x) x = value_of_call(v, "expand_as");
        if (!x) x = value_of_call(v, "repeat");
        if (!x && (v->op == OP_VIEW || v->op == OP_UNSQUEEZE || v->op == OP_SQUEEZE ||
                   v->op == OP_FLATTEN || v->op == OP_EXPAND || v->op == V_CAST)) {
            x = v->args[0];
        }
        if (!x) return v;
        v = x;
    }
    return v;
}

static bool index_has(Val *index, Val *rows) {
    if (index == rows || index_below(index) == rows) return true;
    for (uint32_t i = 0; index->op == V_TUPLE && i < index->nargs; i++) {
        if (index->args[i] == rows || index_below(index->args[i]) == rows) return true;
    }
    return false;
}

typedef struct Gather {
    Val *rows;
    Val *tokens;  // x of x[rows], with the most behind it
    Val *weights; // w of w[rows, ...], a factor of the result
    uint32_t steps;
} Gather;

static bool is_gather(Val *v, Val *rows) {
    if (v->op == V_ITEM) return index_has(v->args[1], rows);
    if (!value_of_call(v, "index_select")) return false;
    Val *index = argument(v, 1, "index");
    return index && index_below(index) == rows;
}

static Val *gathered_from(Val *v) {
    return v->op == V_ITEM ? v->args[0] : value_of_call(v, "index_select");
}

static void find_tokens(Gather *g, Val *v, int depth) {
    if (depth > 40 || ++g->steps > 3000 || g->tokens) return;
    if (is_gather(v, g->rows)) {
        g->tokens = gathered_from(v);
        return;
    }
    // experts[e](x): what is picked there is the expert.
    uint32_t first = v->op == V_CALL && v->nargs && v->args[0]->op == V_ITEM;
    for (uint32_t i = first; i < v->nargs; i++) find_tokens(g, v->args[i], depth + 1);
}

// The factors of the result: one is a gathered weight, another the expert's output.
static void split_factors(Gather *g, Val *v, Val **expert, int depth) {
    v = val_strip(v);
    while (v->op == OP_VIEW || v->op == OP_UNSQUEEZE || v->op == OP_SQUEEZE) v = v->args[0];
    if (v->op == OP_MUL && v->nargs == 2 && depth < 4) {
        split_factors(g, v->args[0], expert, depth + 1);
        split_factors(g, v->args[1], expert, depth + 1);
    } else if (is_gather(v, g->rows)) {
        g->weights = gathered_from(v);
    } else if (!*expert) {
        *expert = v;
    }
}

typedef struct Expert {
    Val *rows;       // those of the pass; NULL: not asked for
    Val *owner;      // W of W[e], or the list of modules
    Val *owners[4];  // the different W
    bool packed;     // one tensor for all
    bool transposed; // used as x @ W[e]: [E, in, out]
    bool bias, module;
    bool gated; // halves of one product are multiplied
    bool norm;  // something stands behind the last product
    uint32_t linears, steps;
} Expert;

static bool is_opaque_index(Val *v) {
    v = index_below(v);
    for (int i = 0; i < 6 && v->op == V_ITEM; i++) v = v->args[1]->op == V_OPAQUE ? v->args[1]
                                                                                  : v->args[0];
    return v->op == V_OPAQUE || v->op == V_CALL || v->op == V_PARAM;
}

// Whether the loop chooses it: experts[i], or what zip and enumerate give of them.
static bool is_chosen(const Val *v) {
    for (int i = 0; i < 6 && v->op == V_ITEM; i++) {
        if (v->args[1]->op != V_CONST) return true;
        v = v->args[0];
    }
    return false;
}

static void look_at_weight(Expert *e, Val *w, bool transposed) {
    w = val_strip(w);
    while (w->op == OP_TRANSPOSE || w->op == OP_PERMUTE) {
        w = val_strip(w->args[0]);
        transposed = !transposed;
    }
    if (w->op != V_ITEM || !is_opaque_index(w->args[1])) return;
    e->packed = true;
    e->transposed = transposed;
    // Parts of one product lead here more than once.
    for (uint32_t i = 0; i < e->linears; i++) {
        if (e->owners[i] == w->args[0]) return;
    }
    e->owner = w->args[0];
    if (e->linears < COUNT(e->owners)) e->owners[e->linears++] = w->args[0];
}

// experts(tokens, e): the number that chooses the rows is handed to one module that
// holds all experts.
static bool is_told_number(const Expert *e, const Val *call) {
    const Val *callee = call->args[0];
    if (!e->rows || (callee->op != V_ATTR && callee->op != V_INSTANCE)) return false;
    for (uint32_t i = 2; i < call->nargs; i++) {
        const Val *arg = call->args[i];
        if (arg->op == V_KEYWORD) arg = arg->args[0];
        if (is_opaque_index((Val *)(uintptr_t)arg) && val_depends(e->rows, arg)) return true;
    }
    return false;
}

// self.experts[e](x), self.experts[e].forward(x)
static const Val *called_module(const Val *callee) {
    bool runs = callee->op == V_ATTR && (strcmp(callee->name->text, "forward") == 0 ||
                                         strcmp(callee->name->text, "__call__") == 0);
    return runs ? callee->args[0] : callee;
}

static void look(Expert *e, Val *v, int depth) {
    if (depth > 40 || ++e->steps > 3000) return;
    if (v->op == OP_LINEAR && v->nargs > 1) look_at_weight(e, v->args[1], false);
    if (v->op == OP_MATMUL && v->nargs > 1) look_at_weight(e, v->args[1], true);
    e->gated |= v->op == V_PART || v->op == OP_GLU || v->op == V_SLICE;
    if (v->op == OP_ADD) {
        for (uint32_t i = 0; i < v->nargs; i++) {
            Val *term = val_strip(v->args[i]);
            e->bias |= term->op == V_ITEM && is_opaque_index(term->args[1]) &&
                       term->args[0]->op == V_ATTR;
        }
    }
    const Val *chosen = v->op == V_CALL && v->nargs > 1 ? called_module(v->args[0]) : NULL;
    if (chosen && is_chosen(chosen)) {
        e->owner = chosen->args[0];
        e->module = true;
    } else if (v->op == V_CALL && is_told_number(e, v)) {
        e->owner = v->args[0];
        e->module = true;
    }
    for (uint32_t i = 0; i < v->nargs; i++) look(e, v->args[i], depth + 1);
}

// Whether the rows are an order of the tokens that a sort made.
static bool is_sorted(Val *v, int depth, uint32_t *steps) {
    if (depth > 20 || ++*steps > 500) return false;
    if (value_of_call(v, "sort") || value_of_call(v, "argsort")) return true;
    for (uint32_t i = 0; i < v->nargs; i++) {
        if (is_sorted(v->args[i], depth + 1, steps)) return true;
    }
    return false;
}

// index == e
static bool is_equality(const Val *v) {
    return v->op == V_PYOP && v->ck == A_EQ;
}

// Where rows come from: where(...), nonzero, a comparison, or a part of a sorted order.
static bool from_routing(Val *rows, Val **from) {
    uint32_t steps = 0;
    Val *v = index_below(rows);
    for (int i = 0; i < 6 && (v->op == V_ITEM || v->op == V_PART); i++) v = v->args[0];
    v = index_below(v);
    *from = v;
    return v->op == OP_WHERE || is_equality(v) || value_of_call(v, "nonzero") ||
           value_of_call(v, "where") || value_of_call(v, "argsort") ||
           value_of_call(v, "sort") || value_of_call(v, "nonzero_static") ||
           value_of_call(v, "argwhere") || is_sorted(v, 0, &steps);
}

static Str describe(Arena *arena, const Expert *e, bool loop, bool weighted) {
    const char *kind = !loop ? "sorted" : e->module ? "modules" : "packed";
    const char *layout = !e->packed ? "" : e->transposed ? "+in_out" : "+out_in";
    const char *linears = !e->packed ? "" : e->linears > 2 ? "+gate+up+down"
                        : e->linears < 2 ? "+one" : e->gated ? "+gate_up+down" : "+up+down";
    return arena_printf(arena, "%s%s%s%s%s%s", kind, linears, layout, e->bias ? "+bias" : "",
                        e->norm ? "+norm" : "", weighted ? "" : "+unweighted");
}

static void add_facts(Site *site, Arena *arena, const Added *added, const Gather *g,
                      const Expert *e) {
    Val *from;
    bool routed = from_routing(added->rows, &from);
    site_add_fact(site, "rows", routed ? FACT_PROVEN : FACT_UNKNOWN,
                 routed ? STR("the rows of an expert are those that the routing gives it")
                        : STR("where the rows of an expert come from is not seen"));
    site->facts[site->fact_count - 1].from = from;
    site_add_fact(site, "accumulate", FACT_PROVEN,
                 added->written ? STR("the result is written at the rows that were read")
                                : STR("the result is added at the rows that were read"));
    site_add_fact(site, "weight", g->weights ? FACT_PROVEN : FACT_UNKNOWN,
                 g->weights ? STR("each row is multiplied by its routing weight once")
                            : STR("no routing weight is seen in the loop"));
    site_add_fact(site, "expert", e->owner ? FACT_PROVEN : FACT_UNKNOWN,
                 e->packed  ? arena_printf(arena, "the weights are one tensor for all experts, %s",
                                           e->transposed ? "[E, in, out] as npu_grouped_matmul "
                                                           "takes them"
                                                         : "[E, out, in]: npu_grouped_matmul takes "
                                                           "the transposed view")
                 : e->module ? STR("every expert is a module of its own: the weights have to be "
                                   "packed first")
                             : STR("which weights belong to an expert is not seen"));
}

// A product, in one branch at least, or what a module makes of one.
static bool is_weighted(Val *v, int depth) {
    v = val_strip(v);
    if (v->op == OP_MUL) return true;
    if (depth > 6) return false;
    if (v->op == V_CALL && v->nargs == 2 && v->args[0]->op == V_ATTR) {
        return is_weighted(v->args[1], depth + 1);
    }
    return v->op == V_PHI &&
           (is_weighted(v->args[1], depth + 1) || is_weighted(v->args[2], depth + 1));
}

// Rows that were sorted by expert are put back with their weights, wherever the
// experts ran. An order that is undone without any is that of a batch of lengths.
static bool add_combine(Sites *out, Frame *f, const Added *added) {
    uint32_t steps = 0;
    if (!is_sorted(added->rows, 0, &steps) || !is_weighted(added->value, 0)) return false;
    Site site = {.id = "moe_experts", .api = "torch_npu.npu_moe_token_unpermute",
                 .autograd = "differentiable",
                    .first = added->stmt, .last = added->stmt, .variant = STR("sorted")};
    site.reason = STR("npu_moe_token_permute and npu_moe_token_unpermute do both ways at once; "
                      "whether the order and the weights between are theirs is not proven");
    site.gain = STR("the gather, the products and the index_add become one kernel each way");
    site_add_fact(&site, "rows", FACT_PROVEN, STR("the rows are an order that a sort made"));
    site.facts[0].from = added->rows;
    vec_push(f->flow->arena, out, site);
    return true;
}

static bool calls_builtin(const Val *call, const char *name) {
    return call && call->op == V_CALL && call->args[0]->op == V_GLOBAL &&
           str_is(call->args[0]->text, name);
}

// What a loop takes its item x from: parts of parts[e], of zip(experts, parts) and of
// enumerate(parts).
static Val *walked(Val *x) {
    Val *over = x->args[0], *zip = over->op == V_ITEM ? over->args[0] : NULL;
    if (calls_builtin(zip, "enumerate") && val_is_int(x->args[1], 1) && zip->nargs > 1) {
        return zip->args[1];
    }
    bool is_zip = calls_builtin(zip, "zip");
    for (uint32_t i = 1; is_zip && i < zip->nargs; i++) {
        if (val_is_int(x->args[1], (int)i - 1)) return zip->args[i];
    }
    return over;
}

// x.split(counts)[e] along the rows, the counts being data: a split by a number or by
// sizes that the code writes gives every pass as many.
static bool is_counted_split(Val *x) {
    const Val *split = val_strip(walked(x));
    if (split->op != OP_SPLIT || split->nargs < 2) return false;
    if (split->nargs > 2 && !val_is_int(split->args[2], 0)) return false;
    const Val *sizes = index_below(split->args[1]);
    return sizes->op == V_PARAM || sizes->op == V_CALL || sizes->op == OP_SUM ||
           (sizes->op == V_ITEM && sizes->args[0]->op != V_TUPLE);
}

// tokens[order], the order being a sort's, in one branch at least: where the experts
// are on several devices, tokens come from the others and are sorted again.
static bool is_in_order(Val *v, int depth) {
    uint32_t steps = 0;
    v = val_strip(v);
    if (v->op == V_ITEM) return is_sorted(v->args[1], 0, &steps);
    if (v->op != V_PHI || depth > 4) return false;
    return is_in_order(v->args[1], depth + 1) || is_in_order(v->args[2], depth + 1);
}

// tokens[order][start:end]
static bool is_sorted_slice(Val *x) {
    const Val *index = x->args[1];
    if (index->op == V_TUPLE && index->nargs) index = index->args[0];
    return index->op == V_SLICE && is_in_order(x->args[0], 0);
}

// The rows that a pass takes of sorted tokens, anywhere below what it computes; NULL.
static Val *share_below(Val *v, int depth, uint32_t *steps) {
    v = val_strip(v);
    if (depth > 24 || ++*steps > 500) return NULL;
    if (v->op == V_ITEM) return is_counted_split(v) || is_sorted_slice(v) ? v : NULL;
    for (uint32_t i = v->op == V_CALL; i < v->nargs; i++) { // behind the callee
        Val *share = share_below(v->args[i], depth + 1, steps);
        if (share) return share;
    }
    return NULL;
}

// outputs.append(linear(x.split(sizes)[e], W[e])): tokens that are sorted already.
static void add_split(Sites *out, Frame *f, Val *value, const Node *loop) {
    Expert e = {0};
    look(&e, value, 0);
    if (!e.owner) return;
    uint32_t steps = 0;
    Val *x = share_below(value, 0, &steps);
    if (!x || x == value) return;
    Site site = {.id = "moe_experts", .api = "torch_npu.npu_grouped_matmul",
                 .autograd = "silent",
                    .first = loop, .last = loop, .variant = STR("grouped")};
    site.reason = STR("npu_grouped_matmul has no backward: training would lose the experts' "
                      "gradients silently");
    site.gain = STR("the matrix products of all experts become one");
    site_add_fact(&site, "rows", FACT_PROVEN, STR("each expert takes one run of the rows"));
    site.facts[0].from = x;
    site_add_fact(&site, "expert", FACT_PROVEN,
                 e.packed ? STR("the weights are one tensor for all experts")
                          : STR("every expert is a module of its own"));
    vec_push(f->flow->arena, out, site);
}

// What is written, not added, needs rows that are chosen: a mask or a list of them. An
// axis that is walked (out[:, i] = f(x[:, i])) is none, nor is a plain copy.
static bool is_own_share(Val *rows, Val *expert) {
    Val *from;
    bool chosen = rows->op == V_CAST || from_routing(rows, &from);
    Gather g = {.rows = index_below(rows)};
    return chosen && !is_gather(val_strip(expert), g.rows);
}

// The weights of a pass are picked by its number as well; they are no tokens.
static bool owns(const Expert *e, const Val *tokens) {
    for (uint32_t i = 0; i < e->linears && i < COUNT(e->owners); i++) {
        if (e->owners[i] == tokens) return true;
    }
    return e->owner == tokens;
}

static void add_site(Sites *out, Frame *f, const Added *added, const Node *loop) {
    Arena *arena = f->flow->arena;
    Gather g = {.rows = index_below(added->rows)};
    Val *expert = NULL;
    Expert e = {.rows = added->rows};
    split_factors(&g, added->value, &expert, 0);
    if (!expert) return;
    find_tokens(&g, expert, 0);
    if (!g.tokens) return;
    if (added->written && !is_own_share(added->rows, expert)) return;
    look(&e, expert, 0);
    e.norm = e.packed && expert->op != OP_LINEAR && expert->op != OP_MATMUL && !e.bias;
    // Without weights of its own that it looks up, a pass is no expert.
    if (!e.owner || owns(&e, g.tokens)) return;
    Site site = {.id = "moe_experts", .api = "torch_npu.npu_grouped_matmul",
                 .autograd = "silent",
                    .first = loop ? loop : added->stmt, .last = loop ? loop : added->stmt};
    site.variant = describe(arena, &e, loop != NULL, g.weights != NULL);
    site.reason = STR("npu_grouped_matmul, the core of the rewrite, has no backward: training "
                      "would lose the experts' gradients silently");
    site.gain = STR("the kernels of every expert become one of each kind, and no length is read "
                    "back to the host");
    add_facts(&site, arena, added, &g, &e);
    vec_push(arena, out, site);
}

static bool is_new(const Sites *sites, const Node *first) {
    for (uint32_t i = 0; i < sites->len; i++) {
        if (sites->at[i].first == first) return false;
    }
    return true;
}

void moe_find_experts(Sites *out, Frame *frame) {
    Added added;
    for (uint32_t i = 0; i < frame->evals.len; i++) {
        if (!read_call(&added, &frame->evals.at[i])) continue;
        const Node *loop = moe_loop_around(frame, added.stmt);
        if (!is_new(out, loop ? loop : added.stmt)) continue;
        follow_change(&added, frame, loop);
        if (loop || !add_combine(out, frame, &added)) add_site(out, frame, &added, loop);
    }
    for (uint32_t i = 0; i < frame->evals.len; i++) {
        const EvalRecord *record = &frame->evals.at[i];
        if (!record->val || !value_of_call(record->val, "append")) continue;
        const Node *loop = moe_loop_around(frame, moe_stmt(record));
        Val *value = record->val->nargs == 2 ? val_strip(record->val->args[1]) : NULL;
        if (value && loop && is_new(out, loop)) add_split(out, frame, value, loop);
    }
    // torch.cat([expert(part) for expert, part in zip(experts, x.split(counts))])
    for (uint32_t i = 0; i < frame->evals.len; i++) {
        const EvalRecord *record = &frame->evals.at[i];
        const Val *parts = record->val && record->val->op == OP_CAT ? record->val->args[0] : NULL;
        bool each = parts && parts->op == V_OPAQUE && parts->nargs == 1 && parts->ck != A_ADD;
        if (each && is_new(out, moe_stmt(record))) {
            add_split(out, frame, val_strip(parts->args[0]), moe_stmt(record));
        }
    }
    for (uint32_t i = 0; i < frame->stmts.len; i++) {
        if (!read_statement(&added, frame, frame->stmts.at[i].stmt)) continue;
        const Node *loop = moe_loop_around(frame, added.stmt);
        if (loop && is_new(out, loop)) add_site(out, frame, &added, loop);
    }
}
