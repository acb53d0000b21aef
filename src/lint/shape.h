// shape.h - what the source shows of a tensor's shape, in numbers.
#ifndef NPUFUSE_SHAPE_H
#define NPUFUSE_SHAPE_H

#include "flow/flow.h"

// The number of axes; 0 where it is not shown.
uint32_t shape_rank(Val *v);
// The length of an axis (negative: from the end), where it is a literal.
bool shape_length(Val *v, int64_t axis, int64_t *out);

#endif
