// branched.h - the activation of a gated unit, where a branch chooses it.
#ifndef NPUFUSE_BRANCHED_H
#define NPUFUSE_BRANCHED_H

#include "flow/flow.h"

// One of the activations that `a` is chosen from, if its argument and `b` are gate and
// value of one unit: SiLU or GELU with the assumption that the test in front of it comes
// out so. Where a default decides the test, what it chooses; else SiLU first. NULL: none.
Val *branched_activation(Flow *flow, Val *a, Val *b);

#endif
