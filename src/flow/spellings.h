// spellings.h - operators under Python's own names and under those of ATen.
#ifndef NPUFUSE_SPELLINGS_H
#define NPUFUSE_SPELLINGS_H

#include "flow/flow.h"

// What x.__name__(y) or operator.name(x, y) computes; NULL: not one of Python's operators.
// `name` comes with or without its underscores.
// x.eq(y), torch.ge(x, y)
bool is_comparison(Str method);
Val *python_operator(Frame *f, Str name, Val *const *operands, uint32_t count);
// torch.ops.aten.mean.dim  ->  mean; empty: not a function of ATen.
Str aten_function(Str dotted);
// The dotted name by which torch itself has the function, "" if it is only a method.
Str torch_spelling(const OpTable *ops, Arena *arena, Str aten);

#endif
