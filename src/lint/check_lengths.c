// check_lengths.c - lists of lengths: ends or counts.
#include "base/base.h"

#include "lint/checks.h"
#include "lint/value.h"
#include "lint/ways.h"

// flash-attn's own function takes lengths with a 0 in front.
static bool is_flash_varlen(const Val *v) {
    if (v->op != V_CALL || v->args[0]->op != V_GLOBAL) return false;
    Str name = v->args[0]->text;
    return str_starts(name, "flash_attn.") && str_ends(name, ".flash_attn_varlen_func");
}

static bool is_cu_seqlens(const Val *call, const Val *x) {
    for (uint32_t i = 1; i < call->nargs; i++) {
        const Val *arg = call->args[i];
        bool keyword = arg->op == V_KEYWORD && arg->name &&
                       str_starts(sym_str(arg->name), "cu_seqlens");
        if (keyword && value_below(arg->args[0]) == x) return true;
        bool place = arg->op != V_KEYWORD && (i == 4 || i == 5); // q, k, v, cu_q, cu_k
        if (place && value_below(call->args[i]) == x) return true;
    }
    return false;
}

// The same value goes to flash-attn in this function. What a caller hands in may be
// another one for each of two branches.
static const EvalRecord *shared_with_flash(LintJob *job, const NpuCall *call, Val *v) {
    const Frame *f = call->frame;
    const Val *below = value_below(v);
    if (call->through || below->op == V_CONST) return NULL;
    if (!lint_may_work(job, f->evals.len)) return NULL;
    for (uint32_t i = 0; i < f->evals.len; i++) {
        const EvalRecord *record = &f->evals.at[i];
        if (!record->val || !is_flash_varlen(record->val)) continue;
        if (!is_cu_seqlens(record->val, below)) continue;
        if (!ways_exclude(f->fn, call->node, record->node)) return record;
    }
    return NULL;
}

static void fault_ends(LintJob *job, const NpuCall *call, int at, Str how) {
    lint_fault(job, &(Fault){
        .severity = LINT_ERROR, .at = call_arg_node(call, at),
        .message = arena_printf(job->arena, "%.*s holds the length of each sequence%.*s; the "
                                "operator takes the end of each, summed up",
                                STR_FMT(call->schema->args.at[at].name), STR_FMT(how)),
        .right = STR("the sums: lengths.cumsum(0).tolist()"),
    });
}

static void fault_zero(LintJob *job, const NpuCall *call, int at, Str how) {
    Node *node = call_arg_node(call, at);
    bool plain = node != call->node && lint_takes_suffix(node);
    lint_fault(job, &(Fault){
        .severity = LINT_WARNING, .at = node,
        .fix = plain ? STR("[1:]") : STR(""), .fix_start = node->end, .fix_end = node->end,
        .message = arena_printf(job->arena, "%.*s begins with 0, as cu_seqlens of flash-attn "
                                "do%.*s; the operator takes the end of each sequence, so this is "
                                "an empty one in front",
                                STR_FMT(call->schema->args.at[at].name), STR_FMT(how)),
        .right = STR("the part behind the first entry: cu_seqlens[1:].tolist()"),
    });
}

static void check_ends(LintJob *job, const NpuCall *call, int at) {
    Val *from;
    if (!call->args[at]) return;
    LengthsKind kind = value_lengths(call->args[at], &from);
    if (from->op == V_LIST && !call_keeps_list(call, from)) return;
    Str place = lint_place(job, call, from);
    if (kind == LENGTHS_COUNTS) fault_ends(job, call, at, place);
    if (kind == LENGTHS_LEADING_ZERO) fault_zero(job, call, at, place);
    if (kind != LENGTHS_UNKNOWN) return;
    const EvalRecord *flash = shared_with_flash(job, call, call->args[at]);
    if (!flash) return;
    uint32_t line = source_line(&call->frame->module->source, flash->node->start);
    fault_zero(job, call, at, arena_printf(job->arena, " (as in line %u)", line));
}

static bool is_packed(const NpuCall *call) {
    const Val *layout = call_role_value(call, "layout");
    return layout && (val_is_str(layout, "TND") || val_is_str(layout, "TND_NTD"));
}

void check_lengths(LintJob *job, const NpuCall *call) {
    if (!call->schema) return;
    bool packed = is_packed(call);
    for (uint32_t k = 0; k < call->schema->args.len && k < CALL_MAX_ARGS; k++) {
        bool ends = call_has_role(call, (int)k, "cumulative_ends") ||
                    (packed && call_has_role(call, (int)k, "ends_in_tnd"));
        if (ends) check_ends(job, call, (int)k);
    }
}

static Node *last_argument(const Node *call) {
    NodeList args = call->u.call.args, keywords = call->u.call.keywords;
    Node *last = args.len ? args.at[args.len - 1] : NULL;
    for (uint32_t i = 0; i < keywords.len; i++) {
        if (!last || keywords.at[i]->end > last->end) last = keywords.at[i];
    }
    return last && (last->flags & NODE_PARENTHESISED) ? NULL : last;
}

// 0: cumulative sums (the default), 1: counts.
void check_group_list(LintJob *job, const NpuCall *call) {
    Val *from, *list = call_role_value(call, "group_list");
    Val *type = call_role_value(call, "group_list_type");
    int64_t number = 0;
    if (!list || call_role(call, "group_list_type") < 0) return;
    if (type ? !value_int(type, &number) : call->open) return;
    LengthsKind kind = value_lengths(list, &from);
    if (from->op == V_LIST && !call_keeps_list(call, from)) return;
    bool counts = kind == LENGTHS_COUNTS, sums = kind == LENGTHS_ENDS;
    if (!(counts && number == 0) && !(sums && number == 1)) return;
    Str place = lint_place(job, call, from);
    Node *last = counts && !type && !call->partial ? last_argument(call->node) : NULL;
    lint_fault(job, &(Fault){
        .fix = last ? STR(", group_list_type=1") : STR(""),
        .fix_start = last ? last->end : 0, .fix_end = last ? last->end : 0,
        .severity = LINT_ERROR,
        .at = call_arg_node(call, call_role(call, "group_list")),
        .message = arena_printf(job->arena, "group_list holds %s%.*s and group_list_type is %lld, "
                                "which means %s", counts ? "the count of each group"
                                                         : "cumulative sums", STR_FMT(place),
                                (long long)number, number ? "counts" : "cumulative sums"),
        .right = counts ? STR("group_list_type=1, or group_list.cumsum(0)")
                        : STR("group_list_type=0, or the counts themselves"),
    });
}
