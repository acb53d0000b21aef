// compose.h - an expression for a value that has no name of its own.
#ifndef NPUFUSE_COMPOSE_H
#define NPUFUSE_COMPOSE_H

#include "match/place.h"

// Python that computes `v` from names that hold, before block statement `at`
// of the fused branch, what they held for the original; empty if there is none.
Str compose_expr(const Place *place, Val *v, uint32_t at);
// The calls that make `v` of `inner`, a view of it: ".transpose(1, 2)"; empty
// if they cannot be written.
Str compose_views(const Place *place, Val *v, const Val *inner);

#endif
