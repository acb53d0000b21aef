// call_cast.h - casts in every spelling.
#ifndef NPUFUSE_CALL_CAST_H
#define NPUFUSE_CALL_CAST_H

#include "flow/flow.h"

// x.float(), x.to(...), x.type(...), x.type_as(y); NULL if `name` is no cast.
Val *call_cast(Frame *f, Val *x, Str name, Val *const *args, uint32_t nargs);
// Whether what torch.ones, zeros or full made of the arguments is boolean: by its dtype,
// or by what it is filled with. No other dtype changes what the elements mean.
bool call_makes_booleans(Flow *flow, const Val *made, Val *const *args, uint32_t nargs);

#endif
