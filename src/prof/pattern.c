// pattern.c - the table of known runs. A node is one kernel:
//
//     {{operators}, {shapes of inputs}, shape of the output, from, flags}
//
// Kernels may come in any order in which no node is before what it is made from.
// Casts, fills and changes of layout between them need no node.
#include "base/base.h"

#include "prof/pattern_impl.h"

// x.float() -> h * rsqrt(mean(h^2) + eps) -> to(dtype) * weight
static const PatternNode rms_norm[] = {
    {{OP_CAST}, {X}, X, 0, OPT | START | NODE_WIDE},
    {{OP_SQUARE}, {X}, X, N(0), START},
    {{OP_MEAN, OP_SUM}, {X}, ROW, N(1), 0},
    {{OP_MUL, OP_DIV}, {ROW}, ROW, N(2), OPT},
    {{OP_ADD}, {ROW}, ROW, N(2), 0},
    {{OP_RSQRT, OP_SQRT, OP_POW}, {ROW}, ROW, N(4), 0},
    {{OP_RECIPROCAL, OP_DIV}, {ROW}, ROW, N(5), OPT},
    {{OP_MUL, OP_DIV}, {X, ROW}, X, N(5), 0},
    {{OP_ADD}, {LAST}, LAST, 0, TAIL},
    {{OP_MUL}, {X, LAST}, X, N(7), TAIL},
    {{OP_CAST}, {X}, X, N(7), TAIL | NODE_NARROW},
    {{OP_CAST}, {X}, X, N(9), TAIL | NODE_NARROW | NODE_STRICT},
};

// The same, where one kernel squares and sums.
static const PatternNode rms_norm_square_sum[] = {
    {{OP_CAST}, {X}, X, 0, START | NODE_WIDE},
    {{OP_SQUARE_SUM}, {X}, ROW, N(0), 0},
    {{OP_MUL, OP_DIV}, {ROW}, ROW, N(1), 0},
    {{OP_ADD}, {ROW}, ROW, N(2), 0},
    {{OP_RSQRT, OP_SQRT, OP_POW}, {ROW}, ROW, N(3), 0},
    {{OP_RECIPROCAL, OP_DIV}, {ROW}, ROW, N(4), OPT},
    {{OP_MUL, OP_DIV}, {X, ROW}, X, N(4), 0},
    {{OP_ADD}, {LAST}, LAST, 0, TAIL},
    {{OP_MUL}, {X, LAST}, X, N(6), TAIL},
    {{OP_CAST}, {X}, X, N(6), TAIL | NODE_NARROW},
    {{OP_CAST}, {X}, X, N(8), TAIL | NODE_NARROW | NODE_STRICT},
};

// Where outputs have no shapes: what the inputs alone show.
static const PatternNode rms_norm_inputs[] = {
    {{OP_SQUARE}, {X}, ANY, 0, START},
    {{OP_MEAN, OP_SUM}, {X}, ANY, 0, 0},
    {{OP_ADD}, {ROW}, ANY, 0, OPT},
    {{OP_RSQRT}, {ROW}, ANY, 0, 0},
    {{OP_MUL}, {X, ROW}, ANY, 0, TAIL},
    {{OP_MUL}, {X, LAST}, ANY, 0, TAIL},
};

// dw = sum(dy * n); dn = dy * w; dx = dn * r + x * f(sum(dn * x), r)
static const PatternNode rms_norm_bwd[] = {
    {{OP_MUL}, {X, LAST}, X, 0, START},
    {{OP_MUL}, {X, X}, X, 0, START},
    {{OP_SUM}, {X}, LAST, N(1), 0},
    {{OP_MUL}, {X, X}, X, N(0), 0},
    {{OP_SUM}, {X}, ROW, N(3), 0},
    {{OP_MUL, OP_DIV, OP_SQUARE, OP_NEG, OP_ADD}, {ROW}, ROW, 0, NODE_MANY | NODE_LOOSE},
    {{OP_MUL}, {X, ROW}, X, 0, 0},
    {{OP_MUL, OP_DIV}, {X, ROW}, X, N(5), 0},
    {{OP_MUL}, {X}, X, 0, OPT},
    {{OP_ADD}, {X, X}, X, N(6) | N(7), 0},
    {{OP_CAST}, {X}, X, N(9), TAIL | NODE_NARROW},
};

// As autograd has it: the gradient of the mean is spread over X, and that of the square
// is a product of two X.
static const PatternNode rms_norm_bwd_spread[] = {
    {{OP_MUL}, {X, LAST}, X, 0, START},
    {{OP_MUL}, {X, X}, X, 0, START},
    {{OP_SUM}, {X}, LAST, N(1), 0},
    {{OP_MUL}, {X, X}, X, N(0), 0},
    {{OP_SUM}, {X}, ROW, N(3), 0},
    {{OP_MUL, OP_DIV, OP_SQUARE, OP_NEG, OP_ADD}, {ROW}, ROW, 0, NODE_MANY | NODE_LOOSE},
    {{OP_MUL}, {X, ROW}, X, N(0), 0},
    {{OP_BROADCAST, OP_SLICE, OP_COPY, OP_DIV}, {ROW}, X, N(5), 0},
    {{OP_MUL, OP_DIV, OP_POW}, {X}, X, 0, OPT | NODE_MANY},
    {{OP_MUL}, {X, X}, X, N(7), 0},
    {{OP_ADD}, {X, X}, X, N(6) | N(9), 0},
    {{OP_ADD}, {X, X}, X, N(6), OPT}, // the gradient of the way around
    {{OP_CAST}, {X}, X, N(10), TAIL | NODE_NARROW},
};

// x * cos + cat(-x[half:], x[:half]) * sin; backwards the same kernels
static const PatternNode rotary_mul[] = {
    {{OP_CAST}, {X}, X, 0, OPT | START | NODE_WIDE},
    {{OP_MUL}, {X, TABLE}, X, 0, START},
    {{OP_SLICE}, {X | STORE}, HALF, 0, START},
    {{OP_SLICE}, {X | STORE}, HALF, 0, 0},
    {{OP_NEG, OP_MUL}, {HALF}, HALF, N(2), 0},
    {{OP_CONCAT}, {HALF, HALF}, X, N(4), 0},
    {{OP_MUL}, {X, TABLE}, X, 0, 0},
    {{OP_ADD}, {X, X}, X, N(1) | N(6), 0},
    {{OP_CAST}, {X}, X, N(7), TAIL | NODE_NARROW},
};

// The same with one kernel that splits.
static const PatternNode rotary_mul_split[] = {
    {{OP_CAST}, {X}, X, 0, OPT | START | NODE_WIDE},
    {{OP_MUL}, {X, TABLE}, X, 0, START},
    {{OP_SPLIT}, {X}, HALF, 0, START},
    {{OP_NEG, OP_MUL}, {HALF}, HALF, N(2), 0},
    {{OP_CONCAT}, {HALF, HALF}, X, N(3), 0},
    {{OP_MUL}, {X, TABLE}, X, 0, 0},
    {{OP_ADD}, {X, X}, X, N(1) | N(5), 0},
    {{OP_CAST}, {X}, X, N(6), TAIL | NODE_NARROW},
};

// The pairs are neighbours: x * cos + stack(-x[1::2], x[::2]).flatten() * sin
static const PatternNode rotary_mul_pairs[] = {
    {{OP_CAST}, {X}, X, 0, OPT | START | NODE_WIDE},
    {{OP_MUL}, {X, TABLE}, X, 0, START},
    {{OP_SLICE}, {X | PAIRS | STORE}, HALF | APART, 0, START},
    {{OP_SLICE}, {X | PAIRS | STORE}, HALF | APART, 0, 0},
    {{OP_NEG, OP_MUL}, {HALF | APART}, HALF | APART, N(2), 0},
    {{OP_CONCAT}, {HALF | APART, HALF | APART}, PAIRS, N(4), 0},
    {{OP_MUL}, {X, TABLE}, X, N(5), 0},
    {{OP_ADD}, {X, X}, X, N(1) | N(6), 0},
    {{OP_CAST}, {X}, X, N(7), TAIL | NODE_NARROW},
};

// The halves apart: cat(a * cos - b * sin, b * cos + a * sin); backwards the same
static const PatternNode rotary_mul_halves[] = {
    {{OP_CAST}, {X}, X, 0, OPT | START | NODE_WIDE},
    {{OP_SLICE}, {X | PAIRS}, HALF | APART, 0, START},
    {{OP_SLICE}, {X | PAIRS}, HALF | APART, 0, 0},
    {{OP_MUL}, {HALF | APART, HALF_TABLE | APART}, HALF | APART, N(1), 0},
    {{OP_MUL}, {HALF | APART, HALF_TABLE | APART}, HALF | APART, N(1), 0},
    {{OP_MUL}, {HALF | APART, HALF_TABLE | APART}, HALF | APART, N(1), 0},
    {{OP_MUL}, {HALF | APART, HALF_TABLE | APART}, HALF | APART, N(1), 0},
    {{OP_SUB}, {HALF | APART, HALF | APART}, HALF | APART, N(3), 0},
    {{OP_ADD}, {HALF | APART, HALF | APART}, HALF | APART, N(3), 0},
    {{OP_CONCAT}, {HALF | APART, HALF | APART}, X | PAIRS, N(7) | N(8), 0},
    {{OP_CAST}, {X | PAIRS}, X | PAIRS, N(9), TAIL | NODE_NARROW},
};

// The same where each product cuts its half for itself, or the gradient is turned back: X is
// the half.
static const PatternNode rotary_mul_parts[] = {
    {{OP_SLICE}, {DOUBLE | STORE}, X, 0, START | NODE_MANY},
    {{OP_MUL}, {X, TABLE}, X, N(0), 0},
    {{OP_MUL}, {X, TABLE}, X, N(0), 0},
    {{OP_MUL}, {X, TABLE}, X, N(0), 0},
    {{OP_MUL}, {X, TABLE}, X, N(0), 0},
    {{OP_SUB, OP_NEG}, {X}, X, N(1), NODE_LOOSE},
    {{OP_ADD}, {X, X}, X, N(1), 0},
    {{OP_ADD}, {X, X}, X, N(1), OPT},
    {{OP_CONCAT}, {X, X}, DOUBLE, N(6), 0},
    {{OP_CAST}, {DOUBLE}, DOUBLE, N(8), TAIL | NODE_NARROW},
};

// By autograd: what the slices took is put back into zeros, and the parts are added.
// dx = dy * cos + pad(-(dy * sin)[:half]) + pad((dy * sin)[half:])
static const PatternNode rotary_mul_bwd[] = {
    {{OP_MUL}, {X, TABLE}, X, 0, START},
    {{OP_MUL}, {X, TABLE}, X, 0, 0},
    {{OP_SLICE}, {X | STORE}, HALF, 0, OPT | NODE_MANY},
    {{OP_NEG, OP_MUL}, {HALF}, HALF, 0, 0},
    {{OP_PAD, OP_COPY}, {HALF}, X | HALF, 0, 0},
    {{OP_PAD, OP_COPY}, {HALF}, X | HALF, 0, 0},
    {{OP_ADD}, {X, X}, X, N(4), 0},
    {{OP_ADD}, {X, X}, X, N(5) | N(6), 0},
};

// silu(g[:half]) * g[half:]
static const PatternNode swiglu_merged[] = {
    {{OP_SLICE}, {DOUBLE}, X, 0, START},
    {{OP_SLICE}, {DOUBLE}, X, 0, 0},
    {{OP_SWISH}, {X}, X, N(0), 0},
    {{OP_MUL}, {X, X}, X, N(2), 0},
};
static const PatternNode swiglu_split_kernel[] = {
    {{OP_SPLIT}, {DOUBLE}, X, 0, START},
    {{OP_SWISH}, {X}, X, N(0), 0},
    {{OP_MUL}, {X, X}, X, N(1), 0},
};
// g * sigmoid(g) * u
static const PatternNode swiglu_sigmoid[] = {
    {{OP_SLICE, OP_SPLIT}, {DOUBLE}, X, 0, OPT | START},
    {{OP_SLICE}, {DOUBLE}, X, 0, OPT},
    {{OP_SIGMOID}, {X}, X, 0, START},
    {{OP_MUL}, {X, X}, X, N(2), 0},
    {{OP_MUL}, {X, X}, X, N(3), NODE_FAR},
};
// silu(g) * u, where u is another matrix product that may come between
static const PatternNode swiglu[] = {
    {{OP_CAST}, {X}, X, 0, OPT | START | NODE_WIDE},
    {{OP_SWISH}, {X}, X, N(0), START},
    {{OP_MUL}, {X, X}, X, N(1), NODE_FAR},
    {{OP_CAST}, {X}, X, N(2), TAIL | NODE_NARROW},
};
// du = dy * silu(g); ds = dy * u; dg = silu'(g, ds)
static const PatternNode swiglu_bwd[] = {
    {{OP_SLICE}, {DOUBLE}, X, 0, OPT | START},
    {{OP_MUL}, {X, X}, X, N(0), START},
    {{OP_MUL}, {X, X}, X, 0, 0},
    {{OP_SWISH_GRAD}, {X, X}, X, N(1), NODE_FAR},
    {{OP_CONCAT}, {X, X}, DOUBLE, N(3), TAIL},
    {{OP_CAST}, {X}, X, N(3), TAIL | NODE_NARROW},
};

// The same of g * sigmoid(g): dg = ds * sigmoid(g) + sigmoid'(g, ds * g)
static const PatternNode swiglu_sigmoid_bwd[] = {
    {{OP_MUL}, {X, X}, X, 0, START},
    {{OP_MUL}, {X, X}, X, 0, 0},
    {{OP_MUL}, {X, X}, X, N(0), 0},
    {{OP_MUL}, {X, X}, X, N(0), 0},
    {{OP_SIGMOID_GRAD}, {X, X}, X, N(2), 0},
    {{OP_ADD}, {X, X}, X, N(3) | N(4), 0},
    {{OP_CONCAT}, {X, X}, DOUBLE, N(5), TAIL},
    {{OP_CAST}, {X}, X, N(5), TAIL | NODE_NARROW},
};

static const PatternNode geglu[] = {
    {{OP_SLICE}, {DOUBLE}, X, 0, START},
    {{OP_SLICE}, {DOUBLE}, X, 0, 0},
    {{OP_GELU, OP_FAST_GELU}, {X}, X, N(0), 0},
    {{OP_MUL}, {X, X}, X, N(2), 0},
};
static const PatternNode geglu_split[] = {
    {{OP_SPLIT}, {DOUBLE}, X, 0, START},
    {{OP_GELU, OP_FAST_GELU}, {X}, X, N(0), 0},
    {{OP_MUL}, {X, X}, X, N(1), 0},
};
static const PatternNode geglu_apart[] = {
    {{OP_CAST}, {X}, X, 0, OPT | START | NODE_WIDE},
    {{OP_GELU, OP_FAST_GELU}, {X}, X, N(0), START},
    {{OP_MUL}, {X, X}, X, N(1), NODE_FAR},
    {{OP_CAST}, {X}, X, N(2), TAIL | NODE_NARROW},
};
static const PatternNode geglu_bwd[] = {
    {{OP_SLICE}, {DOUBLE}, X, 0, OPT | START},
    {{OP_MUL}, {X, X}, X, N(0), START},
    {{OP_MUL}, {X, X}, X, 0, 0},
    {{OP_GELU_GRAD}, {X, X}, X, N(1), NODE_FAR},
    {{OP_CONCAT}, {X, X}, DOUBLE, N(3), TAIL},
    {{OP_CAST}, {X}, X, N(3), TAIL | NODE_NARROW},
};

// 0.5 x (1 + tanh(a (x + b x^3))). What may come often stands last: a node before it counts first.
static const PatternNode gelu_tanh[] = {
    {{OP_MUL}, {X}, X, 0, OPT | START},
    {{OP_POW, OP_SQUARE}, {X}, X, 0, START},
    {{OP_ADD}, {X, X}, X, N(7), 0},
    {{OP_MUL}, {X}, X, N(2), 0},
    {{OP_TANH}, {X}, X, N(3), 0},
    {{OP_ADD}, {X}, X, N(4), 0},
    {{OP_MUL}, {X, X}, X, N(5), 0},
    {{OP_MUL}, {X}, X, N(1), NODE_MANY | NODE_LOOSE},
};
// Backwards: of tanh's argument the cube, then the sums of both ways to x.
static const PatternNode gelu_tanh_bwd[] = {
    {{OP_MUL}, {X, X}, X, 0, START},
    {{OP_MUL}, {X, X}, X, 0, 0},
    {{OP_TANH_GRAD}, {X, X}, X, N(0), 0},
    {{OP_MUL}, {X}, X, N(2), NODE_MANY | NODE_LOOSE},
    {{OP_POW, OP_SQUARE}, {X}, X, 0, 0},
    {{OP_ADD}, {X, X}, X, N(3) | N(4), 0},
    {{OP_ADD}, {X, X}, X, N(5), NODE_LAST},
};
// 0.5 x (1 + erf(a x))
static const PatternNode gelu_erf[] = {
    {{OP_MUL, OP_DIV}, {X}, X, 0, START | NODE_MANY},
    {{OP_ERF}, {X}, X, N(0), 0},
    {{OP_ADD}, {X}, X, N(1), 0},
    {{OP_MUL}, {X, X}, X, N(2), NODE_LAST},
    {{OP_MUL}, {X}, X, N(3), TAIL},
};
// x sigmoid(1.702 x)
static const PatternNode quick_gelu[] = {
    {{OP_MUL}, {X}, X, 0, START},
    {{OP_SIGMOID}, {X}, X, N(0), 0},
    {{OP_MUL}, {X, X}, X, N(1), 0},
};

#define ON_SCORES                                                              \
    {{OP_MUL, OP_DIV, OP_ADD, OP_MASKED_FILL, OP_SELECT, OP_MAXIMUM, OP_SUB}, {X}, X, N(0),   \
     OPT | NODE_MANY | NODE_LOOSE}

// softmax(q k^T * scale + mask) v; X: the scores
static const PatternNode fusion_attention[] = {
    {{OP_MATMUL}, {ANY, ANY}, X, 0, START},
    ON_SCORES,
    {{OP_SOFTMAX}, {X}, X, N(0), NODE_LOOSE},
    {{OP_DROPOUT, OP_MUL, OP_SELECT, OP_SLICE}, {X}, X, N(2), OPT | NODE_MANY | NODE_LOOSE},
    {{OP_MATMUL}, {X, ANY}, HEADS, N(2), 0},
};

// The softmax in its steps: e = exp(s - max(s)); e / sum(e)
static const PatternNode fusion_attention_steps[] = {
    {{OP_MATMUL}, {ANY, ANY}, X, 0, START},
    ON_SCORES,
    {{OP_REDUCE_MAX}, {X}, ROW, N(0), 0},
    {{OP_SUB}, {X, ROW}, X, N(2), 0},
    {{OP_EXP}, {X}, X, N(3), 0},
    {{OP_SUM}, {X}, ROW, N(4), 0},
    {{OP_DIV, OP_MUL}, {X, ROW}, X, N(4) | N(5), 0},
    {{OP_DROPOUT, OP_MUL, OP_SELECT, OP_SLICE}, {X}, X, N(6), OPT | NODE_MANY | NODE_LOOSE},
    {{OP_MATMUL}, {X, ANY}, HEADS, N(6), 0},
};

// dp = do v^T; dv = p^T do; ds = softmax'(dp, p) * scale; dq = ds k; dk = ds^T q
static const PatternNode fusion_attention_bwd[] = {
    {{OP_MATMUL}, {HEADS, ANY}, X, 0, START},
    {{OP_MATMUL}, {X, ANY}, HEADS, 0, START},
    {{OP_MUL, OP_DIV, OP_MASKED_FILL, OP_SELECT, OP_DROPOUT}, {X}, X, 0,
     OPT | NODE_MANY | NODE_LOOSE},
    {{OP_SOFTMAX_GRAD}, {X, X}, X, 0, NODE_LOOSE},
    {{OP_MUL, OP_DIV, OP_MASKED_FILL, OP_SELECT, OP_DROPOUT}, {X}, X, N(3),
     OPT | NODE_MANY | NODE_LOOSE},
    {{OP_MATMUL}, {X, ANY}, HEADS, N(3), 0},
    {{OP_MATMUL}, {X, ANY}, HEADS, N(3), 0},
};

// softmax(x * scale + mask) with no product around it
static const PatternNode masked_softmax[] = {
    {{OP_CAST}, {X}, X, 0, OPT | START | NODE_WIDE},
    {{OP_MUL, OP_DIV}, {X}, X, N(0), START | OPT},
    {{OP_MASKED_FILL, OP_SELECT, OP_ADD}, {X, SPREAD}, X, N(0) | N(1), NODE_LOOSE | START},
    {{OP_SOFTMAX}, {X}, X, N(2), NODE_LOOSE},
    {{OP_CAST}, {X}, X, N(3), TAIL | NODE_NARROW},
};
static const PatternNode masked_softmax_bwd[] = {
    {{OP_CAST}, {X}, X, 0, OPT | START | NODE_WIDE},
    {{OP_SOFTMAX_GRAD}, {X, X}, X, 0, START | NODE_LOOSE},
    {{OP_MASKED_FILL, OP_SELECT}, {X, SPREAD}, X, N(1), NODE_LOOSE},
    {{OP_MUL, OP_DIV}, {X}, X, N(2), TAIL},
    {{OP_CAST}, {X}, X, N(2), TAIL | NODE_NARROW},
};

// p *= 1 - lr * wd; m = b1 m + (1 - b1) g; v = b2 v + (1 - b2) g g;
// p += -lr m / (sqrt(v) / c + eps)
// g g is added by addcmul, or squared, scaled and added.
#define SECOND_MOMENT(n)                                                                    \
    {{OP_MUL}, {X}, X, 0, 0},                                                               \
    {{OP_SQUARE}, {X}, X, 0, OPT},                                                          \
    {{OP_MUL}, {X}, X, N(n + 1), OPT | NODE_STRICT},                                        \
    {{OP_ADDCMUL, OP_ADD}, {X, X}, X, N(n) | N(n + 1), NODE_APART},                         \
    {{OP_MAXIMUM}, {X, X}, X, N(n + 3), OPT},                                               \
    {{OP_SQRT}, {X}, X, N(n + 3), 0},                                                       \
    {{OP_DIV, OP_MUL}, {X}, X, N(n + 3), OPT | NODE_MANY}, /* corrections of the bias */    \
    {{OP_ADD}, {X}, X, N(n + 5), 0}
// by addcdiv, or by a quotient, its product with -lr, and a sum
#define UPDATE(n)                                                                           \
    {{OP_DIV}, {X, X}, X, N(n - 1), OPT},                                                   \
    {{OP_MUL}, {X}, X, N(n), OPT | NODE_STRICT},                                            \
    {{OP_ADDCDIV, OP_ADD, OP_SUB}, {X, X}, X, N(n - 1) | N(n), NODE_APART}
static const PatternNode fused_adamw[] = {
    {{OP_MUL}, {X}, X, 0, START},
    {{OP_ADD}, {X, X}, X, N(0), 0},
    SECOND_MOMENT(2),
    UPDATE(10),
    {{OP_MUL}, {X}, X, 0, START | OPT},
};
static const PatternNode fused_adamw_lerp[] = {
    {{OP_MUL}, {X}, X, 0, START | OPT},
    {{OP_LERP}, {X, X}, X, 0, START},
    SECOND_MOMENT(2),
    UPDATE(10),
};

// With the decay behind it: p += -lr wd p
static const PatternNode fused_adamw_late[] = {
    {{OP_MUL}, {X}, X, 0, START},
    {{OP_ADD}, {X, X}, X, N(0), 0},
    {{OP_MUL}, {X}, X, 0, 0},
    {{OP_ADDCMUL}, {X, X, X}, X, N(2), 0},
    {{OP_SQRT}, {X}, X, N(3), 0},
    {{OP_DIV, OP_MUL}, {X}, X, N(4), OPT},
    {{OP_ADD}, {X}, X, N(4), 0},
    {{OP_ADDCDIV}, {X, X, X}, X, N(6), 0},
    {{OP_ADD}, {X, X}, X, N(7), NODE_LAST | NODE_NEXT},
};

// With weight decay as a part of the gradient: g += wd * p
static const PatternNode fused_adam[] = {
    {{OP_ADD}, {X, X}, X, 0, START},
    {{OP_MUL}, {X}, X, 0, 0},
    {{OP_ADD}, {X, X}, X, N(0) | N(1), 0},
    {{OP_MUL}, {X}, X, 0, 0},
    {{OP_ADDCMUL}, {X, X, X}, X, N(0) | N(3), 0},
    {{OP_MAXIMUM}, {X, X}, X, N(4), OPT},
    {{OP_SQRT}, {X}, X, N(4), 0},
    {{OP_DIV, OP_MUL}, {X}, X, N(6), OPT},
    {{OP_ADD}, {X}, X, N(6), 0},
    {{OP_ADDCDIV}, {X, X, X}, X, N(8), 0},
};
static const PatternNode fused_adam_lerp[] = {
    {{OP_ADD}, {X, X}, X, 0, START},
    {{OP_LERP}, {X, X}, X, N(0), 0},
    {{OP_MUL}, {X}, X, 0, 0},
    {{OP_ADDCMUL}, {X, X, X}, X, N(0) | N(2), 0},
    {{OP_MAXIMUM}, {X, X}, X, N(3), OPT},
    {{OP_SQRT}, {X}, X, N(3), 0},
    {{OP_DIV, OP_MUL}, {X}, X, N(5), OPT},
    {{OP_ADD}, {X}, X, N(5), 0},
    {{OP_ADDCDIV}, {X, X, X}, X, N(7), 0},
};

// m and v as in Adam; u = m / (sqrt(v) + eps) + wd p; p -= lr u. No correction of the bias.
static const PatternNode fused_bert_adam[] = {
    {{OP_MUL}, {X}, X, 0, START},
    {{OP_ADD}, {X, X}, X, N(0), 0},
    {{OP_MUL}, {X}, X, 0, 0},
    {{OP_ADDCMUL}, {X, X, X}, X, N(2), 0},
    {{OP_SQRT}, {X}, X, N(3), 0},
    {{OP_ADD}, {X}, X, N(4), 0},
    {{OP_DIV}, {X, X}, X, N(1) | N(5), 0},
    {{OP_MUL}, {X}, X, 0, NODE_MANY},
    {{OP_ADD}, {X, X}, X, N(6), OPT},
    {{OP_NEG}, {X}, X, N(7), 0},
    {{OP_ADD}, {X, X}, X, N(9), 0},
};

// The same u, and a step that is as long as |p| / |u|.
static const PatternNode fused_lamb[] = {
    {{OP_MUL}, {X}, X, 0, START},
    {{OP_ADD}, {X, X}, X, N(0), 0},
    {{OP_MUL}, {X}, X, 0, 0},
    {{OP_ADDCMUL}, {X, X, X}, X, N(2), 0},
    {{OP_SQRT}, {X}, X, N(3), 0},
    {{OP_DIV, OP_MUL}, {X}, X, N(4), OPT},
    {{OP_ADD}, {X}, X, N(4), 0},
    {{OP_DIV}, {X, X}, X, N(1) | N(6), 0},
    {{OP_MUL}, {X}, X, N(7), OPT},
    {{OP_ADD}, {X, X}, X, N(7), OPT},
    {{OP_SQUARE}, {X}, X, 0, OPT | NODE_MANY},
    {{OP_SUM, OP_NORM_STEP}, {X}, SCALAR, 0, NODE_MANY},
    {{OP_SQRT, OP_NORM_STEP, OP_DIV, OP_MUL, OP_CLAMP, OP_SELECT, OP_MAXIMUM},
     {SCALAR}, SCALAR, N(11), NODE_MANY | NODE_LOOSE},
    {{OP_MUL}, {X}, X, N(12), OPT},
    {{OP_ADD, OP_SUB}, {X, X}, X, N(7), NODE_LAST},
};

// v = a v + (1 - a) g g; p -= lr g / (sqrt(v) + eps); with a momentum, through it
static const PatternNode fused_rmsprop[] = {
    {{OP_MUL}, {X}, X, 0, START},
    {{OP_ADDCMUL}, {X, X, X}, X, N(0), 0},
    {{OP_SQRT}, {X}, X, N(1), 0},
    {{OP_ADD}, {X}, X, N(2), 0},
    {{OP_MUL}, {X}, X, 0, OPT},
    {{OP_ADDCDIV}, {X, X, X}, X, N(3), 0},
};
// v += (1 - a) (g g - v); p -= lr g / sqrt(v + eps)
static const PatternNode fused_rmsprop_tf[] = {
    {{OP_SQUARE}, {X}, X, 0, START},
    {{OP_SUB}, {X, X}, X, N(0), 0},
    {{OP_ADD}, {X, X}, X, N(1), 0},
    {{OP_ADD}, {X}, X, N(2), 0},
    {{OP_SQRT}, {X}, X, N(3), 0},
    {{OP_MUL}, {X}, X, 0, OPT},
    {{OP_ADDCDIV}, {X, X, X}, X, N(4), 0},
};
// v = r v + (1 - r) g g; d = sqrt(u + eps) / sqrt(v + eps) * g; p -= lr d; u = r u + (1 - r) d d
static const PatternNode fused_adadelta[] = {
    {{OP_MUL}, {X}, X, 0, START},
    {{OP_ADDCMUL}, {X, X, X}, X, N(0), 0},
    {{OP_ADD}, {X}, X, N(1), 0},
    {{OP_SQRT}, {X}, X, N(2), 0},
    {{OP_ADD}, {X}, X, 0, 0},
    {{OP_SQRT}, {X}, X, N(4), 0},
    {{OP_DIV}, {X, X}, X, N(3) | N(5), 0},
    {{OP_MUL}, {X, X}, X, N(6), 0},
    {{OP_ADD}, {X, X}, X, 0, 0},
    {{OP_MUL}, {X}, X, 0, 0},
    {{OP_ADDCMUL}, {X, X, X}, X, N(7) | N(9), 0},
};

// As in Adam, but what a step does not change of a weight's direction is taken out of it:
// where |cos(g, p)| is small, u -= p/|p| sum(u p/|p|)
static const PatternNode fused_adamp[] = {
    {{OP_MUL}, {X}, X, 0, START},
    {{OP_ADD}, {X, X}, X, N(0), 0},
    {{OP_MUL}, {X}, X, 0, 0},
    {{OP_ADDCMUL}, {X, X, X}, X, N(2), 0},
    {{OP_SQRT}, {X}, X, N(3), 0},
    {{OP_DIV, OP_MUL}, {X}, X, N(4), OPT},
    {{OP_ADD}, {X}, X, N(4), 0},
    {{OP_MUL}, {X}, X, N(1), OPT},
    {{OP_ADD}, {X, X}, X, N(7), OPT},
    {{OP_DIV}, {X, X}, X, N(1) | N(6), 0},
    {{OP_SQUARE, OP_MUL}, {X}, X, 0, OPT | NODE_MANY | NODE_LOOSE},
    {{OP_SUM, OP_NORM_STEP}, {X}, ROW | SCALAR, 0, NODE_MANY | NODE_LOOSE},
    {{OP_ABS}, {ROW | SCALAR}, ROW | SCALAR, N(11), NODE_MANY},
    {{OP_SQRT, OP_ADD, OP_DIV, OP_NORM_STEP, OP_REDUCE_MAX, OP_COMPARE}, {ROW | SCALAR},
     ROW | SCALAR, N(11), NODE_MANY | NODE_LOOSE},
    {{OP_DIV}, {X, ROW | SCALAR}, X, 0, OPT | NODE_MANY},
    {{OP_MUL}, {X, ROW | SCALAR}, X, 0, OPT | NODE_MANY},
    {{OP_SUB}, {X, X}, X, N(9), OPT | NODE_MANY},
    {{OP_ADD}, {X, X}, X, N(9), NODE_LAST},
};

// The same by lists of tensors (foreach), each step for one list after the other.
#define EACH_OP(op) {{OP_FOREACH | (op)}, {ANY}, ANY, 0, NODE_MANY | NODE_LOOSE}
#define EACH_OPT(op) {{OP_FOREACH | (op)}, {ANY}, ANY, 0, OPT | NODE_MANY | NODE_LOOSE}
#define EACH_AFTER(op, n) {{OP_FOREACH | (op)}, {ANY}, ANY, N(n), NODE_MANY | NODE_LOOSE}
#define EACH_START(op) {{OP_FOREACH | (op)}, {ANY}, ANY, 0, START | NODE_MANY | NODE_LOOSE}
#define EACH_END(op, n)                                                                     \
    {{OP_FOREACH | (op)}, {ANY}, ANY, N(n), NODE_LAST | NODE_LOOSE},                        \
    {{OP_FOREACH | (op)}, {ANY}, ANY, 0, TAIL | NODE_MANY | NODE_LOOSE}
static const PatternNode fused_adamw_lists[] = {
    EACH_START(OP_MUL), EACH_AFTER(OP_LERP, 0), EACH_AFTER(OP_ADDCMUL, 0),
    EACH_OPT(OP_MAXIMUM), EACH_AFTER(OP_SQRT, 2), EACH_OPT(OP_DIV), EACH_AFTER(OP_ADD, 4),
    EACH_END(OP_ADDCDIV, 6),
};
static const PatternNode fused_adamw_lists_sum[] = {
    EACH_START(OP_MUL), EACH_AFTER(OP_ADD, 0), EACH_AFTER(OP_ADDCMUL, 1),
    EACH_OPT(OP_MAXIMUM), EACH_AFTER(OP_SQRT, 2), EACH_OPT(OP_DIV), EACH_END(OP_ADDCDIV, 4),
};
static const PatternNode fused_adam_lists[] = {
    EACH_START(OP_ADD), EACH_AFTER(OP_LERP, 0), EACH_AFTER(OP_MUL, 1),
    EACH_AFTER(OP_ADDCMUL, 2), EACH_OPT(OP_MAXIMUM), EACH_AFTER(OP_SQRT, 3),
    EACH_OPT(OP_DIV), EACH_END(OP_ADDCDIV, 5),
};
static const PatternNode fused_rmsprop_lists[] = {
    EACH_START(OP_MUL), EACH_AFTER(OP_ADDCMUL, 0), EACH_AFTER(OP_SQRT, 1),
    EACH_AFTER(OP_ADD, 2), EACH_END(OP_ADDCDIV, 3),
};

// (x - mean(x)) / sqrt(var + eps) * w + b
static const PatternNode layer_norm[] = {
    {{OP_CAST}, {X}, X, 0, OPT | START | NODE_WIDE},
    {{OP_MEAN, OP_SUM}, {X}, ROW, N(0), START},
    {{OP_SUB}, {X, ROW}, X, N(1), 0},
    {{OP_SQUARE}, {X}, X, N(2), 0},
    {{OP_MEAN, OP_SUM}, {X}, ROW, N(3), 0},
    {{OP_ADD}, {ROW}, ROW, N(4), 0},
    {{OP_RSQRT, OP_SQRT, OP_POW}, {ROW}, ROW, N(5), 0},
    {{OP_RECIPROCAL, OP_DIV}, {ROW}, ROW, N(6), OPT},
    {{OP_MUL, OP_DIV}, {X, ROW}, X, N(6), 0},
    {{OP_SUB}, {X, ROW}, X, N(4), OPT}, // where the difference is computed twice
    {{OP_MUL}, {X, LAST}, X, N(8), TAIL},
    {{OP_ADD}, {X, LAST}, X, N(8), TAIL},
    {{OP_CAST}, {X}, X, N(8), TAIL | NODE_NARROW},
    {{OP_CAST}, {X}, X, N(10), TAIL | NODE_NARROW | NODE_STRICT},
};

static const PatternNode add_layer_norm[] = {
    {{OP_ADD}, {X, X}, X, 0, START},
    {{OP_LAYER_NORM}, {X}, X, N(0), NODE_LOOSE},
};
static const PatternNode bias_dropout_add[] = {
    {{OP_ADD}, {X, LAST}, X, 0, START},
    {{OP_DROPOUT}, {X}, X, N(0), NODE_LOOSE},
    {{OP_ADD}, {X, X}, X, N(1), 0},
};
static const PatternNode group_norm_silu[] = {
    {{OP_GROUP_NORM}, {X}, X, 0, START | NODE_LOOSE},
    {{OP_SWISH}, {X}, X, N(0), 0},
};

// x.float() -> layer_norm -> to(dtype)
static const PatternNode layer_norm_cast[] = {
    {{OP_CAST}, {X}, X, 0, START | NODE_WIDE},
    {{OP_LAYER_NORM}, {X}, X, N(0), NODE_LOOSE},
    {{OP_CAST}, {X}, X, N(1), NODE_NARROW},
};
static const PatternNode gelu_add[] = {
    {{OP_GELU, OP_FAST_GELU}, {X}, X, 0, START},
    {{OP_ADD}, {X, X}, X, N(0), 0},
};
static const PatternNode bias_gelu[] = {
    {{OP_ADD}, {X, LAST}, X, 0, START},
    {{OP_GELU, OP_FAST_GELU}, {X}, X, N(0), 0},
};
static const PatternNode fast_gelu[] = {
    {{OP_GELU}, {X}, X, 0, START},
};
static const PatternNode confusion_transpose[] = {
    {{OP_TRANSPOSE}, {X}, ANY, 0, START},
    {{OP_TRANSPOSE, OP_COPY}, {ANY}, ANY, N(0), NODE_CHAIN},
};

// order = argsort(experts); tokens[order / k]. X: the experts of the tokens.
static const PatternNode moe_permute[] = {
    {{OP_SORT}, {X}, X, 0, START},
    {{OP_SORT}, {X}, X, N(0), OPT},
    {{OP_DIV}, {X}, X, N(0), OPT},
    {{OP_GATHER, OP_INDEX}, {ANY, X}, EACH, N(0), NODE_LOOSE},
};
// (tokens[order] * weights).sum(1)
static const PatternNode moe_unpermute[] = {
    {{OP_GATHER, OP_INDEX}, {ANY}, X, 0, START | NODE_LOOSE},
    {{OP_MUL}, {X, ROW}, X, N(0), 0},
    {{OP_SUM}, {X}, FOLD, N(1), 0},
};

// The same by what the rows are added to: out[order] += tokens * weights
static const PatternNode moe_unpermute_adds[] = {
    {{OP_MUL}, {X, ROW}, X, 0, START},
    {{OP_SCATTER}, {X}, FOLD, N(0), NODE_LOOSE},
};
// (out[order] = tokens; out * weights).sum(1)
static const PatternNode moe_unpermute_copies[] = {
    {{OP_SCATTER}, {X}, X, 0, START | NODE_LOOSE},
    {{OP_MUL}, {X, ROW}, X, N(0), 0},
    {{OP_SUM}, {X}, FOLD, N(1), 0},
};

// Of two that fit, the first of this table counts.
const Pattern patterns[] = {
    {.id = "fusion_attention", .api = "torch_npu.npu_fusion_attention",
     NODES(fusion_attention), .traffic = {.heads = 4}, .min_axis = 2, .min_rank = 3,
     .note = "the mask is not counted: the fused operator makes a causal one itself"},
    {.id = "fusion_attention", .api = "torch_npu.npu_fusion_attention",
     NODES(fusion_attention_steps), .traffic = {.heads = 4}, .min_axis = 2, .min_rank = 3,
     .note = "the mask is not counted: the fused operator makes a causal one itself"},
    {.id = "fusion_attention_bwd", .api = "torch_npu.npu_fusion_attention",
     NODES(fusion_attention_bwd), .direction = RUN_BACKWARD, .traffic = {.heads = 8},
     .min_axis = 2, .min_rank = 3},
    {.id = "fusion_attention_bwd", .api = "torch_npu.npu_fusion_attention",
     NODES(fusion_attention_bwd), .direction = RUN_BACKWARD, .traffic = {.heads = 8},
     .anchor = ANCHOR_IN, .min_axis = 2, .min_rank = 3},
    {.id = "fusion_attention", .api = "torch_npu.npu_fusion_attention",
     NODES(fusion_attention), .traffic = {.heads = 4}, NARROW_VALUES},
    {.id = "fusion_attention_bwd", .api = "torch_npu.npu_fusion_attention",
     NODES(fusion_attention_bwd), .direction = RUN_BACKWARD, .traffic = {.heads = 8},
     NARROW_VALUES},
    {.id = "fusion_attention_bwd", .api = "torch_npu.npu_fusion_attention",
     NODES(fusion_attention_bwd), .direction = RUN_BACKWARD, .traffic = {.heads = 8},
     .anchor = ANCHOR_IN, NARROW_VALUES},
    {.id = "fused_adam", .api = OPTIM("Adam"), NODES(fused_adam), .direction = RUN_OPTIMIZER,
     .traffic = {.x = 7}, .min_axis = 1, ONE_QUOTIENT},
    {.id = "fused_adam", .api = OPTIM("Adam"), NODES(fused_adam_lerp),
     .direction = RUN_OPTIMIZER, .traffic = {.x = 7}, .min_axis = 1, ONE_QUOTIENT},
    {.id = "fused_lamb", .api = OPTIM("Lamb"), NODES(fused_lamb),
     .direction = RUN_OPTIMIZER, .traffic = {.x = 7}, .min_axis = 1},
    {.id = PATTERN_ADAMW, .api = OPTIM("AdamW"), NODES(fused_adamw_lists), LISTS,
     .traffic = {.x = 7}, ONE_QUOTIENT},
    {.id = PATTERN_ADAMW, .api = OPTIM("AdamW"), NODES(fused_adamw_lists_sum), LISTS,
     .traffic = {.x = 7}, ONE_QUOTIENT},
    {.id = "fused_adam", .api = OPTIM("Adam"), NODES(fused_adam_lists), LISTS,
     .traffic = {.x = 7}, ONE_QUOTIENT},
    {.id = "fused_rmsprop", .api = OPTIM("RMSprop"), NODES(fused_rmsprop_lists), LISTS,
     .traffic = {.x = 5}},
    {.id = "fused_adamp", .api = OPTIM("AdamP"), NODES(fused_adamp),
     .direction = RUN_OPTIMIZER, .traffic = {.x = 7}, .min_axis = 2},
    {.id = "fused_bert_adam", .api = OPTIM("BertAdam"), NODES(fused_bert_adam),
     .direction = RUN_OPTIMIZER, .traffic = {.x = 7}, .min_axis = 1},
    {.id = PATTERN_ADAMW, .api = OPTIM("AdamW"), NODES(fused_adamw_late),
     .direction = RUN_OPTIMIZER, .traffic = {.x = 7}, .min_axis = 1},
    {.id = PATTERN_ADAMW, .api = OPTIM("AdamW"), NODES(fused_adamw),
     .direction = RUN_OPTIMIZER, .traffic = {.x = 7}, .min_axis = 1, ONE_QUOTIENT},
    {.id = PATTERN_ADAMW, .api = OPTIM("AdamW"), NODES(fused_adamw_lerp),
     .direction = RUN_OPTIMIZER, .traffic = {.x = 7}, .min_axis = 1, ONE_QUOTIENT},
    {.id = "fused_adadelta", .api = OPTIM("Adadelta"), NODES(fused_adadelta),
     .direction = RUN_OPTIMIZER, .traffic = {.x = 7}, .min_axis = 1},
    {.id = "fused_rmsprop", .api = OPTIM("RMSprop"), NODES(fused_rmsprop),
     .direction = RUN_OPTIMIZER, .traffic = {.x = 5}, .min_axis = 1},
    {.id = "fused_rmsprop_tf", .api = OPTIM("RMSpropTF"), NODES(fused_rmsprop_tf),
     .direction = RUN_OPTIMIZER, .traffic = {.x = 5}, .min_axis = 1},
    {.id = "rms_norm", .api = "torch_npu.npu_rms_norm", NODES(rms_norm),
     .traffic = {.x = 2, .last = 1}, .min_axis = 2},
    {.id = "rms_norm", .api = "torch_npu.npu_rms_norm", NODES(rms_norm_square_sum),
     .traffic = {.x = 2, .last = 1}, .min_axis = 2},
    {.id = "rms_norm", .api = "torch_npu.npu_rms_norm", NODES(rms_norm_inputs),
     .anchor = ANCHOR_IN, .traffic = {.x = 2, .last = 1}, .min_axis = 2,
     .without_outputs = true,
     .note = "by the shapes of inputs alone: the profile has none of outputs"},
    {.id = "rms_norm_bwd", .api = "torch_npu.npu_rms_norm", NODES(rms_norm_bwd),
     .direction = RUN_BACKWARD, .traffic = {.x = 3}, .min_axis = 2},
    {.id = "rms_norm_bwd", .api = "torch_npu.npu_rms_norm", NODES(rms_norm_bwd_spread),
     .direction = RUN_BACKWARD, .traffic = {.x = 3}, .min_axis = 2},
    {.id = "layer_norm", .api = "torch.nn.functional.layer_norm", NODES(layer_norm),
     .traffic = {.x = 2, .last = 2}, .min_axis = 2},
    {.id = "rotary_mul", .api = "torch_npu.npu_rotary_mul", NODES(rotary_mul),
     .traffic = {.x = 2, .table = 2}, .min_axis = 2},
    {.id = "rotary_mul", .api = "torch_npu.npu_rotary_mul", NODES(rotary_mul),
     .anchor = ANCHOR_IN, .traffic = {.x = 2, .table = 2}, .min_axis = 2},
    {.id = "rotary_mul", .api = "torch_npu.npu_rotary_mul", NODES(rotary_mul_split),
     .traffic = {.x = 2, .table = 2}, .min_axis = 2},
    {.id = "rotary_mul", .api = "torch_npu.npu_rotary_mul", NODES(rotary_mul_split),
     .anchor = ANCHOR_IN, .traffic = {.x = 2, .table = 2}, .min_axis = 2},
    {.id = "rotary_mul", .api = "torch_npu.npu_rotary_mul", NODES(rotary_mul_pairs),
     .traffic = {.x = 2, .table = 2}, .min_axis = 4, .note = PAIRS_NOTE},
    {.id = "rotary_mul", .api = "torch_npu.npu_rotary_mul", NODES(rotary_mul_pairs),
     .anchor = ANCHOR_IN, .traffic = {.x = 2, .table = 2}, .min_axis = 4, .note = PAIRS_NOTE},
    {.id = "rotary_mul", .api = "torch_npu.npu_rotary_mul", NODES(rotary_mul_halves),
     .anchor = ANCHOR_IN, .traffic = {.x = 2, .table = 2}, .min_axis = 4},
    {.id = PATTERN_ROTARY, .api = "torch_npu.npu_rotary_mul", NODES(rotary_mul_parts),
     .traffic = {.x = 4, .table = 2}, .min_axis = 2},
    {.id = PATTERN_ROTARY_BWD, .api = "torch_npu.npu_rotary_mul", NODES(rotary_mul_bwd),
     .direction = RUN_BACKWARD, .traffic = {.x = 2, .table = 2}, .min_axis = 2},
    {.id = "swiglu", .api = "torch_npu.npu_swiglu", NODES(swiglu_merged),
     .traffic = {.x = 3}, .min_axis = 2},
    {.id = "swiglu", .api = "torch_npu.npu_swiglu", NODES(swiglu_split_kernel),
     .traffic = {.x = 3}, .min_axis = 2},
    {.id = "quick_gelu", .api = "torch_npu.npu_fast_gelu", NODES(quick_gelu),
     .traffic = {.x = 2}, .min_axis = 2, .note = "if the factor in the sigmoid is 1.702"},
    {.id = "swiglu", .api = "torch_npu.npu_swiglu", NODES(swiglu_sigmoid),
     .traffic = {.x = 3}, .min_axis = 2},
    {.id = "swiglu", .api = "torch_npu.npu_swiglu", NODES(swiglu),
     .traffic = {.x = 3}, .min_axis = 2},
    {.id = "swiglu_bwd", .api = "torch_npu.npu_swiglu", NODES(swiglu_bwd),
     .direction = RUN_BACKWARD, .traffic = {.x = 5}, .min_axis = 2},
    {.id = "swiglu_bwd", .api = "torch_npu.npu_swiglu", NODES(swiglu_sigmoid_bwd),
     .direction = RUN_BACKWARD, .traffic = {.x = 5}, .min_axis = 2},
    {.id = "geglu", .api = "torch_npu.npu_geglu", NODES(geglu), .traffic = {.x = 3},
     .min_axis = 2},
    {.id = "geglu", .api = "torch_npu.npu_geglu", NODES(geglu_split), .traffic = {.x = 3},
     .min_axis = 2},
    {.id = "geglu", .api = "torch_npu.npu_geglu", NODES(geglu_apart), .traffic = {.x = 3},
     .min_axis = 2},
    {.id = "geglu_bwd", .api = "torch_npu.npu_geglu", NODES(geglu_bwd),
     .direction = RUN_BACKWARD, .traffic = {.x = 5}, .min_axis = 2},
    {.id = "gelu", .api = GELU, NODES(gelu_tanh), .traffic = {.x = 2}, .min_axis = 2,
     .note = "one kernel, as torch's own gelu is, if the numbers are gelu's: approximate='tanh'"},
    {.id = "gelu_bwd", .api = GELU, NODES(gelu_tanh_bwd), .direction = RUN_BACKWARD,
     .traffic = {.x = 3}, .min_axis = 2,
     .note = "one kernel, as torch's own gelu is, if the numbers are gelu's: approximate='tanh'"},
    {.id = "gelu", .api = GELU, NODES(gelu_erf), .traffic = {.x = 2}, .min_axis = 2,
     .note = "one kernel, as torch's own gelu is, if the numbers are gelu's: approximate='none'"},
    {.id = "scaled_masked_softmax", .api = "torch_npu.npu_scaled_masked_softmax",
     NODES(masked_softmax), .traffic = {.x = 2}, .min_axis = 2, .min_rank = 3, .behind = 8},
    {.id = "scaled_masked_softmax_bwd", .api = "torch_npu.npu_scaled_masked_softmax",
     NODES(masked_softmax_bwd), .direction = RUN_BACKWARD, .traffic = {.x = 3}, .min_axis = 2,
     .min_rank = 3, .behind = 8},
    {.id = "add_layer_norm", .api = "torch_npu.npu_add_layer_norm", NODES(add_layer_norm),
     .traffic = {.x = 4, .last = 2}, .min_axis = 2},
    {.id = PATTERN_BIAS_DROPOUT_ADD, .api = API_NONE, NODES(bias_dropout_add),
     .traffic = {.x = 3, .last = 1}, .min_axis = 2,
     .note = "no operator of torch_npu alone; a custom kernel or a fused layer"},
    {.id = "group_norm_silu", .api = "torch_npu.npu_group_norm_silu",
     NODES(group_norm_silu), .traffic = {.x = 2}, .min_axis = 1},
    {.id = "layer_norm_cast", .api = "torch.nn.functional.layer_norm",
     NODES(layer_norm_cast), .traffic = {.x = 2, .last = 2}, .min_axis = 2,
     .note = "the kernel takes bf16 and fp16 as they are: leave the casts out"},
    {.id = "bias_gelu", .api = API_NONE, NODES(bias_gelu), .traffic = {.x = 2, .last = 1},
     .min_axis = 2, .note = "no operator of torch_npu alone; a custom kernel"},
    {.id = "gelu_add", .api = API_NONE, NODES(gelu_add), .traffic = {.x = 3}, .min_axis = 2,
     .note = "no operator of torch_npu alone; a custom kernel"},
    {.id = "moe_token_permute", .api = "torch_npu.npu_moe_token_permute",
     NODES(moe_permute), .min_axis = 2, .traffic = {.x = 1, .made = 2},
     .note = "the operator sorts and gathers in one"},
    {.id = "moe_token_unpermute", .api = "torch_npu.npu_moe_token_unpermute",
     NODES(moe_unpermute), .min_axis = 2, .min_rank = 2, .traffic = {.x = 1, .made = 1}},
    {.id = "moe_token_unpermute", .api = "torch_npu.npu_moe_token_unpermute",
     NODES(moe_unpermute_adds), .min_axis = 16, .min_rank = 2, .traffic = {.x = 1, .made = 1},
     .note = "if the rows are the tokens of experts, each in its place"},
    {.id = "moe_token_unpermute", .api = "torch_npu.npu_moe_token_unpermute",
     NODES(moe_unpermute_copies), .min_axis = 16, .min_rank = 2, .traffic = {.x = 1, .made = 1},
     .note = "if the rows are the tokens of experts, each in its place"},
    {.id = "confusion_transpose", .api = "torch_npu.npu_confusion_transpose",
     NODES(confusion_transpose), .anchor = ANCHOR_IN, .traffic = {.x = 2}, .min_axis = 1,
     .min_rank = 2, .note = "two changes of layout of one tensor: one permute can do both"},
    {.id = "fast_gelu", .api = "torch_npu.npu_fast_gelu", NODES(fast_gelu), .min_axis = 2,
     .traffic = {.x = 2}, .is_remark = true,
     .note = "computes x * sigmoid(1.702 x) in place of gelu: other numbers, so try a training"},
};
const uint32_t pattern_count = COUNT(patterns);
