// affinity.h - kernels that the chip is slow at by their nature, and what to write
// instead. Not a fusion: marked as such.
#ifndef NPUFUSE_AFFINITY_H
#define NPUFUSE_AFFINITY_H

#include "prof/runs.h"

typedef struct Affinity {
    const char *id, *advice;
    ProfBound bound;
} Affinity;

// The first entry that fits the kind; NULL: none.
const Affinity *affinity_find(const ProfKind *kind);

#endif
