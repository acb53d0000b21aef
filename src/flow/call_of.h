// call_of.h - calls by the last part of their name, whether or not the graph has
// a row for them (ops.def): x.cumsum(0) and torch.cumsum(x, 0) are one question.
#ifndef NPUFUSE_CALL_OF_H
#define NPUFUSE_CALL_OF_H

#include "flow/flow.h"

// The receiver or first argument where v is x.NAME(...) or torch.NAME(x, ...);
// NULL if it is not.
Val *value_of_call(Val *v, const char *name);
// The argument of such a call: the `index`-th behind its receiver (from 0), or
// the one called `keyword`; NULL if it is not given.
Val *value_argument(Val *v, uint32_t index, const char *keyword);
// Whether it is no keyword, and no *args or **kwargs.
bool arg_is_positional(const Val *arg);
// The keyword argument among them; NULL if it is not given.
Val *keyword_arg(Val *const *args, uint32_t nargs, const char *name);
// x of torch.empty_like(x) and torch.zeros_like(x), which nothing else has yet; NULL.
Val *like_of_new(const Val *v);
// Functions of torch that make something new and do nothing else.
bool call_only_makes(const Val *callee);

#endif
