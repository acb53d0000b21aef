// check_results.c - what is done with the results and the inputs afterwards.
#include "base/base.h"

#include "lint/checks.h"
#include "lint/value.h"
#include "lint/ways.h"

// ---- several results as one tensor ---------------------------------------------------

// What a tuple or a list has, too; any other attribute raises.
static bool is_sequence_attribute(const Sym *name) {
    static const char *const names[] = {"count", "index", "append", "extend", "insert", "pop",
                                        "remove", "reverse", "sort", "copy", "clear"};
    for (size_t i = 0; i < COUNT(names); i++) {
        if (strcmp(name->text, names[i]) == 0) return true;
    }
    return str_starts(sym_str(name), "__");
}

static bool is_sequence(const Val *v) {
    return v->op == V_TUPLE || v->op == V_LIST;
}

static bool is_count(const Val *v) {
    return v->op == V_CONST && v->ck == CONST_INT;
}

// Operators of the graph that a tuple has as well: t + (x,), t * 2, torch.cat(t).
// t + 1 it has not.
static bool takes_tuples(const Val *v) {
    if (v->op == OP_CAT || v->op == OP_STACK) return true;
    if (v->op == OP_ADD) return is_sequence(v->args[0]) || is_sequence(v->args[1]);
    return v->op == OP_MUL && (is_count(v->args[0]) || is_count(v->args[1]));
}

// Whether the operator reads `x` as a tensor.
static bool reads_tensor(const Val *v, const Val *x) {
    if (v->op == V_CALL) { // x.npu()
        const Val *callee = v->args[0];
        return callee->op == V_ATTR && callee->args[0] == x && !is_sequence_attribute(callee->name);
    }
    if (v->op < V_CAST || takes_tuples(v)) return false;
    for (uint32_t i = 0; i < v->nargs; i++) {
        if (v->args[i] == x) return true;
    }
    return false;
}

// isinstance(x, torch.Tensor), type(x), hasattr(x, ...): the code asks what x is.
static bool asks_what_it_is(const Val *v, const Val *x) {
    if (v->op != V_CALL || v->nargs < 2 || v->args[1] != x) return false;
    const Val *callee = v->args[0];
    return val_is_global(callee, "isinstance") || val_is_global(callee, "type") ||
           val_is_global(callee, "hasattr") || val_is_global(callee, "torch.is_tensor");
}

// Schemas with names for their results give a named tuple.
static bool has_named_results(const Schema *schema) {
    for (uint32_t i = 0; i < schema->returns.len; i++) {
        Str type = schema->returns.at[i];
        if (type.len && memchr(type.at, ' ', type.len)) return true;
    }
    return false;
}

static bool has_item_of(const Val *v, const Val *x) {
    if (v->op == V_ITEM && v->args[0] == x) return true;
    for (uint32_t i = 0; i < v->nargs; i++) {
        if (v->args[i]->op == V_ITEM && v->args[i]->args[0] == x) return true;
    }
    return false;
}

// y[1] of the same y elsewhere: then [0] behind the call is not the answer.
static bool takes_one_apart(const Frame *f, const Val *x) {
    for (uint32_t i = 0; i < f->evals.len; i++) {
        if (f->evals.at[i].val && has_item_of(f->evals.at[i].val, x)) return true;
    }
    return false;
}

// "2 values", "a list"; empty where it is one value.
static Str results_text(LintJob *job, const Schema *schema) {
    uint32_t count = schema->returns.len;
    if (count == 1 && str_ends(schema->returns.at[0], "[]")) return STR("a list");
    if (count < 2 || has_named_results(schema)) return STR("");
    return arena_printf(job->arena, "%u values", count);
}

void check_tuple(LintJob *job, const NpuCall *call) {
    Str results = call->schema ? results_text(job, call->schema) : STR("");
    if (!results.len) return;
    const Frame *f = call->frame;
    const EvalRecord *use = NULL;
    if (!lint_may_work(job, f->evals.len)) return;
    for (uint32_t i = 0; i < f->evals.len; i++) {
        const EvalRecord *record = &f->evals.at[i];
        if (!record->val || record->val == call->val) continue;
        if (asks_what_it_is(record->val, call->val)) return;
        if (!use && reads_tensor(record->val, call->val)) use = record;
    }
    if (!use) return;
    bool whole = takes_one_apart(f, call->val);
    lint_fault(job, &(Fault){
        .severity = LINT_ERROR, .at = call->node,
        .message = arena_printf(job->arena, "%.*s returns %.*s; line %u uses it as one tensor",
                                STR_FMT(call->name), STR_FMT(results),
                                source_line(&f->module->source, use->node->start)),
        .right = STR("the first of them: [0]"),
        .fix = whole ? STR("") : STR("[0]"),
        .fix_start = call->node->end, .fix_end = call->node->end,
    });
}

// ---- written in place ----------------------------------------------------------------

// The alias set of a type: "a!" of "Tensor(a!)"; empty where it has none.
static Str alias_set(Str type) {
    const char *open = type.len ? memchr(type.at, '(', type.len) : NULL;
    if (!open) return STR("");
    Str rest = {open + 1, (size_t)(type.at + type.len - open - 1)};
    return str_take(&rest, ')');
}

// Written in place and handed back as a result, so that the old value is lost to who
// thinks that the result is another tensor. What is written and not handed back, a
// cache, is written on purpose.
static bool is_handed_back(const NpuCall *call, uint32_t index) {
    const SchemaArg *arg = &call->schema->args.at[index];
    if (call_has_role(call, (int)index, "written")) return true;
    for (uint32_t i = 0; arg->mutated && i < call->schema->returns.len; i++) {
        if (str_eq(alias_set(call->schema->returns.at[i]), alias_set(arg->type))) return true;
    }
    return false;
}

typedef struct LaterRead {
    LintJob *job;
    const Frame *frame;
    const NpuCall *call;
    const Val *written;
    const Node *found;
} LaterRead;

// x.shape, x.dtype and the like do not read the numbers.
static bool reads_no_numbers(const Node *attribute) {
    static const char *const names[] = {"shape", "dtype", "device", "ndim", "size", "dim",
                                        "numel", "stride", "layout", "requires_grad", "is_npu"};
    for (size_t i = 0; i < COUNT(names); i++) {
        if (strcmp(attribute->u.attribute.attr->text, names[i]) == 0) return true;
    }
    return false;
}

static bool search_read(Node *node, void *data) {
    LaterRead *search = data;
    if (!lint_may_work(search->job, 1)) return false;
    if (search->found || node->end <= search->call->node->end) return true;
    if (node->kind == N_ATTRIBUTE && reads_no_numbers(node)) return true;
    if (node->kind == N_DELETE) return true;
    bool loads = (node->kind == N_NAME && node->ctx == CTX_LOAD) ||
                 (node->kind == N_ATTRIBUTE && node->ctx == CTX_LOAD);
    if (loads && node->start >= search->call->record->stmt->end &&
        node_val(search->frame->mf, node) == search->written &&
        !ways_exclude(search->frame->fn, search->call->node, node)) {
        search->found = node;
        return true;
    }
    return node_children(node, search_read, data);
}

static const Node *read_later(LintJob *job, const NpuCall *call, Val *written) {
    const Frame *f = call->frame;
    if (!f->fn || f->fn->kind == N_LAMBDA || !call->record->stmt) return NULL;
    LaterRead search = {.job = job, .frame = f, .call = call, .written = written};
    NodeList body = f->fn->u.function->body;
    for (uint32_t i = 0; i < body.len && !search.found; i++) search_read(body.at[i], &search);
    return search.found;
}

static bool is_named(const Val *v) {
    return v->op == V_PARAM || v->op == V_ATTR || v->op > V_CAST || v->op == V_CALL ||
           v->op == V_ITEM || v->op == V_PART;
}

// `op(x)` as a statement writes into x on purpose.
static bool is_statement(const NpuCall *call) {
    const Node *stmt = call->record->stmt;
    return stmt && stmt->kind == N_EXPR && stmt->u.return_.value == call->node;
}

void check_in_place(LintJob *job, const NpuCall *call) {
    if (!call->schema || call->through || is_statement(call)) return;
    // A name that ends in '_' says it, as everywhere in torch.
    if (call->name.len && call->name.at[call->name.len - 1] == '_') return;
    for (uint32_t k = 0; k < call->schema->args.len && k < CALL_MAX_ARGS; k++) {
        const SchemaArg *arg = &call->schema->args.at[k];
        Val *v = call->args[k];
        if (!v || arg->keyword_only || !is_named(v) || !is_handed_back(call, k)) continue;
        const Node *later = read_later(job, call, v);
        if (!later) continue;
        lint_fault(job, &(Fault){
            .severity = LINT_WARNING, .at = call_arg_node(call, (int)k),
            .message = arena_printf(job->arena, "%.*s writes its result into '%.*s', which line %u "
                                    "still reads", STR_FMT(call->name), STR_FMT(arg->name),
                                    source_line(&call->frame->module->source, later->start)),
            .right = STR("the result from there on, or a copy for the operator: x.clone()"),
        });
    }
}
