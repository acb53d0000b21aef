// builtins.h - functions of Python whose answer follows from the graph.
#ifndef NPUFUSE_BUILTINS_H
#define NPUFUSE_BUILTINS_H

#include "flow/flow.h"

// Items of a sequence that map() and comprehensions are read for, one by one.
enum { MAPPED_MAX = 8 };

// NULL: not decided.
Val *builtin_isinstance(Frame *f, Val *const *args, uint32_t nargs);
// map(fn, (x, y)) of a short sequence that is written out; NULL for another.
Val *builtin_map(Frame *f, Val *const *args, uint32_t nargs);
// slice(n), slice(a, b), slice(a, b, step)
Val *builtin_slice(Frame *f, Val *const *args, uint32_t nargs);
// d.get(key), d.get(key, default) and d.pop(key, default) of a dict whose keys are all
// known; what pop takes out changes the dict. `of` spells it. NULL: not decided.
typedef struct DictCall {
    const Node *of;
    Val *dict;
    Str method;
} DictCall;
Val *builtin_dict_get(Frame *f, const DictCall *call, Val *const *args, uint32_t nargs);

#endif
