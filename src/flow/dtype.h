// dtype.h - the dtype of a value, as an expression over the dtypes of others.
#ifndef NPUFUSE_DTYPE_H
#define NPUFUSE_DTYPE_H

#include "flow/flow.h"

// What is known besides the graph: numbers that take no part in promotion,
// and tensors whose dtype is not to be traced further back.
typedef struct Scalars {
    Val *const *at;
    uint32_t len;
    Val *const *leaves;
    uint32_t leaf_count;
    bool no_autocast; // a product has its operands' dtype, and softmax its input's
} Scalars;

// The dtype of `v` as a Val: torch.float32, dtype(x), promote(...),
// phi(cond, ..) or autocast(d, d'). Equal dtypes are equal pointers.
// Promotion follows torch.promote_types for floating tensors; under autocast
// the operators of the NPU's float32 list give float32.
Val *dtype_of(Flow *flow, Val *v, Scalars scalars);
// Whether the value is a Python number, as far as is known.
bool is_scalar(Flow *flow, Val *v, Scalars scalars);

// Whether a file has so much to work out that dtypes are no longer known.
bool dtype_gave_up(const Flow *flow);

#endif
