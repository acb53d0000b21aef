// gated.h - `act(a) * b` with a callable that nothing in sight tells.
#ifndef NPUFUSE_GATED_H
#define NPUFUSE_GATED_H

#include "flow/flow.h"

// a * b. Where a gated unit is all that it can be, one factor is taken for SiLU of its
// input, which is left to the guard and said to be unknown.
Val *gated_product(Flow *flow, Val *a, Val *b);

// Whether the two are halves of one tensor or products of one input.
bool gate_and_value(Val *a, Val *b);

#endif
