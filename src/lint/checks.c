// checks.c - the table of checks.
#include "base/base.h"

#include "lint/checks.h"

#define MASK_PAGE "op-plugin docs: torch_npu-npu_fusion_attention.md, atten_mask and sparse_mode"

const Check lint_checks[] = {
    {"unknown-argument", check_arguments, "an argument that the operator does not have",
     "the registered schema"},
    {"scale-left-out", check_scale, "attention whose scale is left at 1.0",
     "the registered schema: scale=1."},
    {"sparse-mode-without-mask", check_sparse_mask,
     "a sparse_mode that has no effect, because there is no atten_mask", MASK_PAGE},
    {"mask-size", check_mask_size, "a compressed sparse_mode with a mask that is not 2048 x 2048",
     MASK_PAGE},
    {"mask-kind", check_mask_kind, "an additive or inverted mask as atten_mask", MASK_PAGE},
    {"mask-shared-with-sdpa", check_mask_shared,
     "one mask for scaled_dot_product_attention and as atten_mask", MASK_PAGE},
    {"lengths-not-cumulative", check_lengths,
     "sequence lengths that are counts, or begin with 0", MASK_PAGE},
    {"group-list-kind", check_group_list,
     "counts where group_list_type says cumulative sums, or the other way round",
     "op-plugin docs: torch_npu-npu_grouped_matmul.md, group_list_type"},
    {"tuple-not-indexed", check_tuple, "several results used as if they were one tensor",
     "the registered schema"},
    {"in-place-input-reused", check_in_place,
     "a tensor that is read after the operator wrote into it", "the registered schema"},
    {"no-gradient", check_gradient, "an operator without a backward where the source trains",
     "ops/, from torch_npu's derivatives"},
    {"planned-removal", check_removal, "an operator that is going to be removed",
     "op-plugin docs"},
    {"mixed-dtypes", check_dtypes, "query, key and value of different dtypes under autocast",
     "ops/: limits()"},
    {"constant-out-of-range", check_constants, "a literal that the operator does not take",
     "ops/: limits()"},
};
const uint32_t lint_check_count = COUNT(lint_checks);

void lint_fault(LintJob *job, const Fault *fault) {
    vec_push(job->arena, &job->faults, *fault);
}

Str lint_place(LintJob *job, const NpuCall *call, const Val *v) {
    const Module *m = call->frame->module;
    if (!v || !v->node || v->module != m) return STR("");
    return arena_printf(job->arena, " (line %u)", source_line(&m->source, v->node->start));
}
