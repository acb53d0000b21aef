// ranks.h - how many dimensions a tensor has, where the source shows it, and what a
// table lacks to have those of what it is multiplied with.
#ifndef NPUFUSE_RANKS_H
#define NPUFUSE_RANKS_H

#include "flow/flow.h"

// The number of dimensions; 0 where it is not known. A shape that is unpacked in one
// branch alone counts: good for what is tested at run time, not for a proof.
uint32_t tensor_rank(const Val *x);

typedef enum Lack {
    LACK_NONE,  // as many, or the code aligns the axes itself
    LACK_KNOWN, // `count` leading axes
    LACK_OPEN,  // only run time knows
} Lack;

// The leading axes that `table` of `own` dimensions lacks beside one of `wanted`; 0: not
// known.
Lack lacking_axes(const Val *table, uint32_t own, uint32_t wanted, uint32_t *count);

#endif
