// result_dtype.h - which dtype a matched value has, and how that is written.
#ifndef NPUFUSE_RESULT_DTYPE_H
#define NPUFUSE_RESULT_DTYPE_H

#include "match/place.h"

// The dtype expression as Python; empty if it cannot be written.
Str dtype_text(const Place *place, Val *dtype);
// The dtype of a value at the place.
Val *placed_dtype(const Place *place, Val *v);
// The dtype that the matched value has in the original.
Val *result_dtype(const Place *place);
// Whether every value of dtype `d` is held by dtype `wide`, for the dtypes that
// the operators take (float32 and the halves).
bool dtype_is_wider(const Val *wide, const Val *d);

#endif
