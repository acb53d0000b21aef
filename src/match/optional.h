// optional.h - results that a function's callers can do without.
#ifndef NPUFUSE_OPTIONAL_H
#define NPUFUSE_OPTIONAL_H

#include "flow/flow.h"

// Whether every use of the frame's function in its module allows None as the
// `index`-th of the values that it returns: a caller drops that value, or the
// function stands in a table whose other entries return None there.
bool result_is_optional(Frame *f, uint32_t index);

#endif
