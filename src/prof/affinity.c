// affinity.c - the table of slow kernels, by operator, core and dtype.
#include "base/base.h"

#include "prof/affinity.h"
#include "prof/opclass.h"

typedef enum Trait { TRAIT_OP, TRAIT_AICPU, TRAIT_WHOLE, TRAIT_WIDE } Trait;

static const struct {
    Affinity say;
    Trait trait;
    ProfOp op;
} table[] = {
    {{"affinity_aicpu", "runs on the AI CPU, with a synchronisation: use dtypes that the "
      "vector core has (float32, float16, bfloat16, int32) or another operator", BOUND_AICPU},
     TRAIT_AICPU, OP_OTHER},
    {{"affinity_index_put", "writes at random places: use torch.where with a mask, or "
      "masked_fill", BOUND_UNKNOWN}, TRAIT_OP, OP_INDEX_PUT},
    {{"affinity_scatter", "writes at random places: sort the indices first, or use a "
      "one-hot matrix product where they are few", BOUND_UNKNOWN}, TRAIT_OP, OP_SCATTER},
    {{"affinity_index", "reads at random places: use index_select, or a mask and "
      "multiplication", BOUND_UNKNOWN}, TRAIT_OP, OP_INDEX},
    {{"affinity_gather_elements", "reads element by element: use index_select along the "
      "first axis, or transposes around it", BOUND_UNKNOWN}, TRAIT_OP, OP_GATHER_ELEMENTS},
    {{"affinity_nonzero", "its output has a shape that only the device knows, so the host "
      "waits: keep the mask and multiply", BOUND_UNKNOWN}, TRAIT_OP, OP_NONZERO},
    {{"affinity_sort", "sorting integers is slow: sort float32 where the values are below "
      "2^24", BOUND_UNKNOWN}, TRAIT_WHOLE, OP_SORT},
    {{"affinity_select", "a choice by a mask: a multiplication or masked_fill is cheaper "
      "where the other side is a constant", BOUND_UNKNOWN}, TRAIT_OP, OP_SELECT},
    {{"affinity_dtype", "computes in a dtype that the vector core has not (float64, int64, "
      "complex): use float32 or int32", BOUND_UNKNOWN}, TRAIT_WIDE, OP_OTHER},
};

static bool is_whole(ProfDtype dtype) {
    return dtype == DT_INT64 || dtype == DT_INT32 || dtype == DT_UINT8 || dtype == DT_INT16;
}

static bool is_wide(ProfDtype dtype) {
    return dtype == DT_INT64 || dtype == DT_UINT64 || dtype == DT_FP64 ||
           dtype == DT_COMPLEX64 || dtype == DT_COMPLEX128;
}

static bool has_wide(const ProfKind *kind) {
    bool arithmetic = kind->op >= OP_ADD && kind->op <= OP_REDUCE_MAX;
    if (!arithmetic || kind->in_count < 1) return false;
    // A list of axes or a step count is no work.
    return is_wide((ProfDtype)kind->in[0].dtype) && kind->in[0].count > 64;
}

const Affinity *affinity_find(const ProfKind *kind) {
    for (size_t i = 0; i < COUNT(table); i++) {
        bool same = table[i].op == kind->op;
        bool fits = table[i].trait == TRAIT_AICPU   ? kind->core == CORE_AICPU
                    : table[i].trait == TRAIT_WIDE ? has_wide(kind)
                    : table[i].trait == TRAIT_WHOLE
                        ? same && kind->in_count && is_whole((ProfDtype)kind->in[0].dtype)
                        : same;
        if (fits) return &table[i].say;
    }
    return NULL;
}
