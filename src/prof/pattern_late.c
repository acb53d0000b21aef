// pattern_late.c - runs of so plain a kind that they come last; see pattern.c for how a
// table is read.
#include "base/base.h"

#include "prof/pattern_impl.h"

// b = m b + g; p -= lr b
static const PatternNode fused_sgd[] = {
    {{OP_ADD}, {X, X}, X, 0, OPT | START},
    {{OP_MUL}, {X}, X, 0, START},
    {{OP_ADD}, {X, X}, X, N(1), 0},
    {{OP_ADD}, {X, X}, X, N(2), 0},
};

// The gradient of a weight, added to what is kept of it in float32.
static const PatternNode matmul_add[] = {
    {{OP_MATMUL}, {ANY, ANY}, X, 0, START | NODE_LOW},
    {{OP_ADD}, {X, X}, X, N(0), NODE_FP32 | NODE_SAME},
};
// beta * c + alpha * (a @ b)
static const PatternNode addmm[] = {
    {{OP_MATMUL}, {ANY, ANY}, X, 0, START},
    {{OP_MUL}, {X}, X, N(0), 0},
    {{OP_MUL}, {X}, X, 0, 0},
    {{OP_ADD}, {X, X}, X, N(1), NODE_SAME},
};

const Pattern late_patterns[] = {
    {.id = "addmm", .api = "torch.addmm", NODES(addmm), .direction = RUN_ANY,
     .traffic = {.x = 2}, .min_axis = 2, .min_rank = 2, .max_rank = 2},
    {.id = "matmul_add", .api = "mindspeed.ops.npu_matmul_add_fp32", NODES(matmul_add),
     .direction = RUN_BACKWARD, .traffic = {.x = 4}, .min_axis = 2, .min_rank = 2,
     .max_rank = 2, .note = "if it adds a weight's gradient up"},
    {.id = "fused_sgd", .api = OPTIM("SGD"), NODES(fused_sgd), .direction = RUN_OPTIMIZER,
     .traffic = {.x = 5}, .min_axis = 1, .in_a_row = 4},
};
const uint32_t late_pattern_count = COUNT(late_patterns);
