// check_results.c - what is done with the results and the inputs afterwards.
#include "base/base.h"

#include "lint/checks.h"
#include "lint/value.h"

static bool is_tensor_operator(const Val *v) {
    return v->op > V_CAST || v->op == V_CAST;
}

// Whether the operator reads `x` as a tensor.
static bool reads(const Val *v, const Val *x) {
    if (!is_tensor_operator(v)) return false;
    for (uint32_t i = 0; i < v->nargs; i++) {
        if (v->args[i] == x) return true;
    }
    return false;
}

// Methods and attributes that a tensor has and a tuple has not.
static bool is_tensor_attribute(const Val *v, const Val *x) {
    static const char *const names[] = {"shape", "dtype", "device", "to", "view", "reshape",
                                        "transpose", "float", "size", "contiguous", "permute"};
    if (v->op != V_ATTR || v->args[0] != x) return false;
    for (size_t i = 0; i < COUNT(names); i++) {
        if (strcmp(v->name->text, names[i]) == 0) return true;
    }
    return false;
}

void check_tuple(LintJob *job, const NpuCall *call) {
    if (!call->schema || call->schema->returns.len < 2) return;
    const Frame *f = call->frame;
    for (uint32_t i = 0; i < f->evals.len; i++) {
        const EvalRecord *record = &f->evals.at[i];
        const Val *v = record->val;
        if (!v || (!reads(v, call->val) && !is_tensor_attribute(v, call->val))) continue;
        if (v->op == OP_CAT || v->op == OP_STACK) continue; // of a tuple of tensors
        lint_fault(job, &(Fault){
            .check = "tuple-not-indexed", .severity = LINT_ERROR, .at = call->node,
            .message = arena_printf(job->arena, "%.*s returns %u values; line %u uses them as one "
                                    "tensor", STR_FMT(call->name),
                                    (unsigned)call->schema->returns.len,
                                    source_line(&f->module->source, record->node->start)),
            .right = STR("the first of them: [0]"),
            .fix = STR("[0]"), .fix_behind = call->node,
        });
        return;
    }
}

// The first expression behind the call that reads what was written over.
static const EvalRecord *read_later(const NpuCall *call, const Val *written) {
    const Frame *f = call->frame;
    for (uint32_t i = 0; i < f->evals.len; i++) {
        const EvalRecord *record = &f->evals.at[i];
        if (record->val != written || !record->stmt || !call->record->stmt) continue;
        if (record->node->start < call->record->stmt->end) continue;
        if (record->node->kind != N_NAME || record->node->ctx != CTX_LOAD) continue;
        return record;
    }
    return NULL;
}

// Something that has a name to be read by, not a literal.
static bool is_named(const Val *v) {
    return v->op == V_PARAM || v->op == V_ATTR || v->op > V_CAST || v->op == V_CALL;
}

void check_in_place(LintJob *job, const NpuCall *call) {
    if (!call->schema) return;
    // A name that ends in '_' says it, as everywhere in torch.
    if (call->name.len && call->name.at[call->name.len - 1] == '_') return;
    for (uint32_t k = 0; k < call->schema->args.len && k < CALL_MAX_ARGS; k++) {
        const SchemaArg *arg = &call->schema->args.at[k];
        Val *v = call->args[k];
        bool out = arg->keyword_only && str_starts(arg->name, "out");
        if (!arg->mutated || out || !v || !is_named(v)) continue;
        const EvalRecord *later = read_later(call, v);
        if (!later) continue;
        lint_fault(job, &(Fault){
            .check = "in-place-input-reused", .severity = LINT_WARNING,
            .at = call_arg_node(call, (int)k),
            .message = arena_printf(job->arena, "%.*s writes its result into '%.*s', which line %u "
                                    "still reads", STR_FMT(call->name), STR_FMT(arg->name),
                                    source_line(&call->frame->module->source,
                                                later->node->start)),
            .right = STR("a copy where the old value is needed: x.clone()"),
        });
    }
}
