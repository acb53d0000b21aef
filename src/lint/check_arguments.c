// check_arguments.c - arguments against the schema: names, number, what is missing.
#include "base/base.h"

#include "base/buf.h"
#include "lint/checks.h"
#include "lint/value.h"

enum { NAME_MAX = 64, MISSPELT_MAX = 2 };

// ---- names ---------------------------------------------------------------------------

static uint32_t smallest(uint32_t a, uint32_t b, uint32_t c) {
    uint32_t least = a < b ? a : b;
    return least < c ? least : c;
}

// Letters to put in, take out or exchange.
static uint32_t distance(Str a, Str b) {
    uint32_t row[NAME_MAX + 1];
    if (a.len > NAME_MAX || b.len > NAME_MAX) return UINT32_MAX;
    for (uint32_t k = 0; k <= b.len; k++) row[k] = k;
    for (uint32_t i = 1; i <= a.len; i++) {
        uint32_t diagonal = row[0];
        row[0] = i;
        for (uint32_t k = 1; k <= b.len; k++) {
            uint32_t above = row[k];
            uint32_t change = diagonal + (a.at[i - 1] != b.at[k - 1]);
            row[k] = smallest(change, above + 1, row[k - 1] + 1);
            diagonal = above;
        }
    }
    return row[b.len];
}

// A few letters off, or cut short: eps for epsilon.
static bool is_near(Str name, Str other) {
    if (other.len >= 4 && distance(other, name) <= MISSPELT_MAX) return true;
    return name.len >= 3 && other.len > name.len && memcmp(other.at, name.at, name.len) == 0;
}

static bool is_given(const NpuCall *call, uint32_t index) {
    return index < CALL_MAX_ARGS && call->args[index];
}

// The one argument that `name` is a misspelling of; empty if there is none, or if it
// is given besides.
static Str meant_argument(const NpuCall *call, Str name) {
    Str best = STR("");
    for (uint32_t i = 0; i < call->schema->args.len; i++) {
        Str other = call->schema->args.at[i].name;
        if (is_given(call, i) || !is_near(name, other)) continue;
        if (best.len) return STR("");
        best = other;
    }
    return best;
}

// torch_npu 2.1 calls the first tensor `self`, later ones `input`: without an
// installed one, nothing says which it is.
static bool is_either_name(const NpuCall *call, Str name) {
    return !call->installed && (str_is(name, "self") || str_is(name, "input")) &&
           (schema_arg(call->schema, STR("self")) || schema_arg(call->schema, STR("input")));
}

static bool is_unknown(const NpuCall *call, const Val *arg) {
    if (arg->op != V_KEYWORD || !arg->name) return false;
    Str name = sym_str(arg->name);
    return !schema_arg(call->schema, name) && !is_either_name(call, name);
}

// Where every argument that the installed one does not have is one of ops/.
static bool is_of_another_version(const NpuCall *call) {
    if (!call->installed || !call->op) return false;
    for (uint32_t i = 1; i < call->val->nargs; i++) {
        const Val *arg = call->val->args[i];
        if (!is_unknown(call, arg)) continue;
        if (!schema_arg(&call->op->schema, sym_str(arg->name))) return false;
    }
    return true;
}

static Str right_arguments(LintJob *job, const NpuCall *call, const Val *first, uint32_t count) {
    Str meant = count == 1 ? meant_argument(call, sym_str(first->name)) : STR("");
    if (meant.len) {
        return arena_printf(job->arena, "its name is '%.*s'", STR_FMT(meant));
    }
    if (is_of_another_version(call)) {
        return STR("another version of torch_npu has it (npufuse api show), or leave it out");
    }
    return arena_printf(job->arena, "it is %.*s", STR_FMT(call->schema->text));
}

// The keyword in the call itself; the call where it comes from functools.partial or
// from **{...}.
static Node *keyword_node(const NpuCall *call, const Sym *name) {
    NodeList keywords = call->node->u.call.keywords;
    for (uint32_t i = 0; i < keywords.len; i++) {
        if (keywords.at[i]->u.keyword.name == name) return keywords.at[i];
    }
    return call->node;
}

static void check_keywords(LintJob *job, const NpuCall *call) {
    Buf names = {0};
    const Val *first = NULL;
    uint32_t count = 0;
    for (uint32_t i = 1; i < call->val->nargs; i++) {
        const Val *arg = call->val->args[i];
        if (!is_unknown(call, arg)) continue;
        if (call->spreads && keyword_node(call, arg->name) == call->node) continue;
        if (!first) first = arg;
        buf_addf(&names, "%s'%s'", count++ ? ", " : "", arg->name->text);
    }
    if (first) {
        lint_fault(job, &(Fault){
            .severity = LINT_ERROR, .at = keyword_node(call, first->name),
            .message = arena_printf(job->arena, "%.*s has no argument%s %.*s in %.*s: the "
                                    "call raises", STR_FMT(call->name), count == 1 ? "" : "s",
                                    STR_FMT(buf_str(&names)), STR_FMT(call->owner)),
            .right = right_arguments(job, call, first, count),
        });
    }
    buf_free(&names);
}

// ---- number --------------------------------------------------------------------------

static bool has_star(const NpuCall *call) {
    for (uint32_t i = 0; i < call->node->u.call.args.len; i++) {
        if (call->node->u.call.args.at[i]->kind == N_STARRED) return true;
    }
    return false;
}

static void check_positions(LintJob *job, const NpuCall *call) {
    uint32_t places = 0, given = call->node->u.call.args.len;
    while (places < call->schema->args.len && !call->schema->args.at[places].keyword_only) places++;
    if (given <= places || has_star(call)) return;
    lint_fault(job, &(Fault){
        .severity = LINT_ERROR, .at = call->node->u.call.args.at[places],
        .message = arena_printf(job->arena, "%.*s takes %u argument%s by position, not %u, in "
                                "%.*s: the call raises", STR_FMT(call->name), places,
                                places == 1 ? "" : "s", given, STR_FMT(call->owner)),
        .right = STR("pass the others by keyword"),
    });
}

static void check_missing(LintJob *job, const NpuCall *call) {
    for (uint32_t i = 0; i < call->schema->args.len && i < CALL_MAX_ARGS; i++) {
        const SchemaArg *arg = &call->schema->args.at[i];
        if (call->args[i] || arg->has_fallback || is_either_name(call, arg->name)) continue;
        lint_fault(job, &(Fault){
            .severity = LINT_ERROR, .at = call->node,
            .message = arena_printf(job->arena, "%.*s needs '%.*s' in %.*s: the call raises",
                                    STR_FMT(call->name), STR_FMT(arg->name),
                                    STR_FMT(call->owner)),
            .right = arena_printf(job->arena, "it is %.*s", STR_FMT(call->schema->text)),
        });
        return;
    }
}

void check_arguments(LintJob *job, const NpuCall *call) {
    if (!call->schema || !call->schema->args.len) return;
    check_keywords(job, call);
    if (!job->faults.len) check_positions(job, call);
    if (!job->faults.len && !call->open) check_missing(job, call);
}
