// opclass.h - the many spellings of a kernel's type, folded.
#ifndef NPUFUSE_OPCLASS_H
#define NPUFUSE_OPCLASS_H

#include "prof/profile.h"

// The names of kernels that do the same to shapes and dtypes share a class.
typedef enum ProfOp {
    OP_OTHER, OP_MATMUL, OP_CAST, OP_FILL, OP_TRANSPOSE, OP_SLICE, OP_SPLIT, OP_CONCAT,
    OP_PAD, OP_COPY, OP_RETILE, OP_BROADCAST,
    OP_ADD, OP_SUB, OP_MUL, OP_DIV, OP_SQUARE, OP_POW, OP_SQRT, OP_RSQRT, OP_RECIPROCAL, OP_NEG,
    OP_ADDCMUL, OP_ADDCDIV, OP_LERP, OP_MAXIMUM, OP_CLAMP, OP_EXP, OP_LOG, OP_ABS, OP_TANH,
    OP_TANH_GRAD, OP_ERF,
    OP_MEAN, OP_SUM, OP_SQUARE_SUM, OP_REDUCE_MAX,
    OP_SWISH, OP_SWISH_GRAD, OP_SIGMOID, OP_SIGMOID_GRAD, OP_GELU, OP_GELU_GRAD, OP_FAST_GELU,
    OP_RELU,
    OP_SOFTMAX, OP_SOFTMAX_GRAD, OP_MASKED_FILL, OP_SELECT, OP_DROPOUT, OP_DROPOUT_MASK,
    OP_LAYER_NORM, OP_LAYER_NORM_GRAD, OP_GROUP_NORM, OP_BATCH_NORM,
    OP_FLASH_ATTENTION, OP_FLASH_ATTENTION_GRAD, OP_RMS_NORM, OP_RMS_NORM_GRAD, OP_SWIGLU,
    OP_SWIGLU_GRAD, OP_ROTARY, OP_ROTARY_GRAD, OP_FUSED_ADAM, OP_FUSED_OTHER,
    OP_INDEX, OP_INDEX_PUT, OP_GATHER, OP_GATHER_ELEMENTS, OP_SCATTER, OP_EMBEDDING,
    OP_NONZERO, OP_SORT, OP_TOPK, OP_CUMSUM, OP_COMPARE, OP_LOGIC, OP_RANGE, OP_NORM_STEP,
    OP_CONV, OP_CLASS_COUNT,
    OP_FOREACH = 128, // OP_FOREACH | OP_MUL: the same for each tensor of a list
} ProfOp;

ProfOp opclass_find(Str type);
// Tells apart what the tensors say of a kernel of that class.
void opclass_refine(ProfKind *kind);
// "Mul", as a reader knows it.
const char *opclass_name(ProfOp op);
// The multiplications and additions of a matrix product; 0 for anything else.
double opclass_flops(const ProfKind *kind);

#endif
