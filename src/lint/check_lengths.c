// check_lengths.c - lists of lengths: ends or counts.
#include "base/base.h"

#include "lint/checks.h"
#include "lint/value.h"

static void check_ends(LintJob *job, const NpuCall *call, const OperatorRole *role, int at) {
    Val *from;
    LengthsKind kind = call->args[at] ? value_lengths(call->args[at], &from) : LENGTHS_UNKNOWN;
    if (kind != LENGTHS_COUNTS && kind != LENGTHS_LEADING_ZERO) return;
    Str place = lint_place(job, call, from);
    bool zero = kind == LENGTHS_LEADING_ZERO;
    lint_fault(job, &(Fault){
        .check = "lengths-not-cumulative", .severity = LINT_ERROR,
        .at = call_arg_node(call, at),
        .message = arena_printf(job->arena, "%.*s %s%.*s; the operator takes the end of each "
                                "sequence, summed up, without a 0 in front",
                                STR_FMT(role->param),
                                zero ? "begins with 0, as cu_seqlens of flash-attn do"
                                     : "holds the length of each sequence",
                                STR_FMT(place)),
        .right = zero ? STR("the part behind the first entry: cu_seqlens[1:].tolist()")
                      : STR("the sums: lengths.cumsum(0).tolist()"),
    });
}

void check_lengths(LintJob *job, const NpuCall *call) {
    if (!call->op || !call->schema) return;
    for (uint32_t i = 0; i < call->op->roles.len; i++) {
        const OperatorRole *role = &call->op->roles.at[i];
        if (!str_is(role->role, "cumulative_ends")) continue;
        for (uint32_t k = 0; k < call->schema->args.len && k < CALL_MAX_ARGS; k++) {
            if (str_eq(call->schema->args.at[k].name, role->param)) {
                check_ends(job, call, role, (int)k);
            }
        }
    }
}

// 0: cumulative sums (the default), 1: counts.
void check_group_list(LintJob *job, const NpuCall *call) {
    Val *from, *list = call_role_value(call, "group_list");
    Val *type = call_role_value(call, "group_list_type");
    int64_t number = 0;
    if (!list || call_role(call, "group_list_type") < 0) return;
    if (type ? !value_int(type, &number) : call->open) return;
    LengthsKind kind = value_lengths(list, &from);
    bool counts = kind == LENGTHS_COUNTS, sums = kind == LENGTHS_ENDS;
    if (!(counts && number == 0) && !(sums && number == 1)) return;
    Str place = lint_place(job, call, from);
    // A list that is written out may be of one group only.
    lint_fault(job, &(Fault){
        .check = "group-list-kind", .severity = LINT_ERROR,
        .at = call_arg_node(call, call_role(call, "group_list")),
        .message = arena_printf(job->arena, "group_list holds %s%.*s and group_list_type is %lld, "
                                "which means %s", counts ? "the count of each group"
                                                         : "cumulative sums", STR_FMT(place),
                                (long long)number, number ? "counts" : "cumulative sums"),
        .right = counts ? STR("group_list_type=1, or group_list.cumsum(0)")
                        : STR("group_list_type=0, or the counts themselves"),
    });
}
