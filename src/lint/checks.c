// checks.c - the table of checks.
#include "base/base.h"

#include "lint/checks.h"

#define MASK_PAGE "op-plugin docs: torch_npu-npu_fusion_attention.md, atten_mask and sparse_mode"
#define LENGTHS_PAGE "op-plugin docs: torch_npu-npu_fusion_attention.md, actual_seq_qlen"

const Check lint_checks[] = {
    {"unknown-argument", check_arguments, "arguments that the operator does not have",
     "the registered schema", false},
    {"scale-left-out", check_scale, "attention whose scale is left at 1.0",
     "the registered schema: scale=1.", true},
    {"sparse-mode-without-mask", check_sparse_mask,
     "a sparse_mode that has no effect, because there is no atten_mask", MASK_PAGE, true},
    {"mask-size", check_mask_size, "a compressed sparse_mode with a mask that is not 2048 x 2048",
     MASK_PAGE, true},
    {"mask-kind", check_mask_kind, "an additive or inverted mask as atten_mask", MASK_PAGE, true},
    {"mask-shared", check_mask_shared,
     "one mask as atten_mask and, in the same function, with another meaning", MASK_PAGE, false},
    {"lengths-not-cumulative", check_lengths,
     "sequence lengths that are counts, or begin with 0", LENGTHS_PAGE, true},
    {"group-list-kind", check_group_list,
     "counts where group_list_type says cumulative sums, or the other way round",
     "op-plugin docs: torch_npu-npu_grouped_matmul.md, group_list_type", true},
    {"tuple-not-indexed", check_tuple, "several results used as if they were one tensor",
     "the registered schema", false},
    {"in-place-input-reused", check_in_place,
     "a tensor that is read after the operator wrote into it", "the registered schema", false},
    {"no-gradient", check_gradient, "an operator without a backward where the source trains",
     "ops/, from torch_npu's derivatives", false},
    {"planned-removal", check_removal, "an operator that is going to be removed",
     "op-plugin docs", false},
    {"mixed-dtypes", check_dtypes, "query, key and value of different dtypes under autocast",
     "ops/: limits()", true},
    {"outside-limits", check_limits, "what the operator does not take, shown by literals",
     "ops/: limits()", true},
};
const uint32_t lint_check_count = COUNT(lint_checks);

bool lint_may_work(LintJob *job, uint64_t amount) {
    if (*job->work < LINT_WORK_MAX) *job->work += amount;
    return *job->work < LINT_WORK_MAX;
}

void lint_fault(LintJob *job, const Fault *fault) {
    vec_push(job->arena, &job->faults, *fault);
}

bool lint_takes_suffix(const Node *n) {
    return n->kind == N_NAME || n->kind == N_ATTRIBUTE || n->kind == N_CALL ||
           n->kind == N_SUBSCRIPT || (n->flags & NODE_PARENTHESISED);
}

Str lint_text(const NpuCall *call, const Node *n) {
    return source_span(&call->module->source, n->start, n->end);
}

Str lint_place(LintJob *job, const NpuCall *call, const Val *v) {
    const Module *m = call->frame->module;
    const Node *fn = call->frame->fn;
    if (!v || !v->node || v->module != m) return STR("");
    // Equal values are one value, which may have been made in another function first.
    if (fn && (v->node->start < fn->start || v->node->end > fn->end)) return STR("");
    return arena_printf(job->arena, " (line %u)", source_line(&m->source, v->node->start));
}
