// stated.h - what a function says of its tensors before it uses them:
//   assert x.ndim == 4
//   if cos.shape != sin.shape: raise ValueError(...)
#ifndef NPUFUSE_STATED_H
#define NPUFUSE_STATED_H

#include "match/place.h"

typedef enum Stated {
    STATED_NOT,
    STATED_ASSERTED, // `python -O` leaves it out
    STATED_RAISED,
} Stated;

// Whether the function tests, on its way to the match, that a and b have one shape.
Stated stated_shape(const Place *place, const Val *a, const Val *b);
// As tensor_rank(), or what the function tests the number of dimensions for.
uint32_t placed_rank(const Place *place, const Val *x);

#endif
