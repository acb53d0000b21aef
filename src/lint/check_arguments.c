// check_arguments.c - arguments against the schema: names, number, literals.
#include "base/base.h"

#include "lint/checks.h"
#include "lint/value.h"

static Str schema_owner(const NpuCall *call) {
    return call->installed ? STR("the installed torch_npu") : STR("torch_npu 2.13.0");
}

// The schema's argument that `name` may have meant: its only one left with the
// same ending or beginning; empty if there is none.
static Str near_argument(const Schema *schema, Str name) {
    Str best = STR("");
    for (uint32_t i = 0; i < schema->args.len; i++) {
        Str other = schema->args.at[i].name;
        bool near = str_contains(other, name) || str_contains(name, other);
        if (!near || other.len < 3) continue;
        if (best.len) return STR("");
        best = other;
    }
    return best;
}

static void check_keyword(LintJob *job, const NpuCall *call, const Node *keyword) {
    Str name = sym_str(keyword->u.keyword.name);
    if (schema_arg(call->schema, name)) return;
    Str near = near_argument(call->schema, name), owner = schema_owner(call);
    lint_fault(job, &(Fault){
        .check = "unknown-argument", .severity = LINT_ERROR,
        .at = (Node *)(uintptr_t)keyword,
        .message = arena_printf(job->arena, "%.*s has no argument '%.*s' in %.*s: the call raises",
                                STR_FMT(call->name), STR_FMT(name), STR_FMT(owner)),
        .right = near.len ? arena_printf(job->arena, "'%.*s' is what it has", STR_FMT(near))
                          : arena_printf(job->arena, "it takes: %.*s",
                                         STR_FMT(call->schema->text)),
    });
}

void check_arguments(LintJob *job, const NpuCall *call) {
    uint32_t places = 0, given = call->node->u.call.args.len;
    if (!call->schema || !call->schema->args.len || call->partial) return;
    NodeList keywords = call->node->u.call.keywords;
    for (uint32_t i = 0; i < keywords.len; i++) {
        if (keywords.at[i]->u.keyword.name) check_keyword(job, call, keywords.at[i]);
    }
    while (places < call->schema->args.len && !call->schema->args.at[places].keyword_only) places++;
    for (uint32_t i = 0; i < given; i++) {
        if (call->node->u.call.args.at[i]->kind == N_STARRED) return;
    }
    if (given <= places) return;
    lint_fault(job, &(Fault){
        .check = "unknown-argument", .severity = LINT_ERROR,
        .at = call->node->u.call.args.at[places],
        .message = arena_printf(job->arena, "%.*s takes %u arguments by position, not %u: the "
                                "call raises", STR_FMT(call->name), places, given),
        .right = STR("pass the others by keyword"),
    });
}
