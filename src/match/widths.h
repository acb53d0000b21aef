// widths.h - limits on the last axis that a number in the source settles.
#ifndef NPUFUSE_WIDTHS_H
#define NPUFUSE_WIDTHS_H

#include "match/prove.h"

// Tries the requirement with the widths that the source shows. One that is written
// where the tensor is made proves or refutes it; one that a configuration gives by
// default is said in `why`, and the guard stays: FACT_UNKNOWN, `soft` where the
// default does not hold it.
FactState prove_limit(Requirement *r, const Place *place);

#endif
