// number.h - which values are Python numbers, and which cannot be.
#ifndef NPUFUSE_NUMBER_H
#define NPUFUSE_NUMBER_H

#include "flow/flow.h"

// Whether the value may be a number that is not negative: no tensor.
bool may_be_number(Flow *flow, Val *v);
// Whether nothing in it is a parameter of a function that could as well be a
// tensor: it has no annotation, and no default that is a number.
bool shows_number(const Val *v);
// Whether it certainly is one: x.shape[-1], t.item(), `alpha: float`.
bool is_number(Flow *flow, Val *v);

#endif
