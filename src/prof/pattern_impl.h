// pattern_impl.h - the words of the tables of known runs.
#ifndef NPUFUSE_PATTERN_IMPL_H
#define NPUFUSE_PATTERN_IMPL_H

#include "prof/pattern.h"

#define X SHAPE_X
#define ROW SHAPE_ROW
#define LAST SHAPE_LAST
#define HALF SHAPE_HALF
#define DOUBLE SHAPE_DOUBLE
#define TABLE SHAPE_TABLE
#define HEADS SHAPE_HEADS
#define ANY SHAPE_ANY
#define PAIRS SHAPE_PAIRS
#define APART SHAPE_APART
#define HALF_TABLE SHAPE_HALF_TABLE
#define EACH SHAPE_EACH
#define SCALAR SHAPE_SCALAR
#define STORE SHAPE_STORE
#define SPREAD SHAPE_SPREAD
#define FOLD SHAPE_FOLD
#define N(n) (1u << (n))
#define OPT NODE_OPTIONAL
#define START NODE_START
#define TAIL (NODE_OPTIONAL | NODE_TAIL)

#define NODES(list) .nodes = list, .node_count = sizeof(list) / sizeof((list)[0])
#define API_NONE NULL
#define PAIRS_NOTE "neighbours are a pair: rotary_mode='interleave'"
#define NARROW_NOTE "the values' heads are narrower than the keys': try it, or pad the values"
#define NARROW_VALUES                                                                       \
    .has_narrow_values = true, .min_axis = 2, .min_rank = 3, .note = NARROW_NOTE
#define GELU "torch_npu.npu_gelu"
#define LISTS .direction = RUN_OPTIMIZER, .is_list = true, .min_axis = 1
#define ONE_QUOTIENT .not_behind = OP_ADDCDIV
#define OPTIM(name) "torch_npu.optim.NpuFused" name

#endif
