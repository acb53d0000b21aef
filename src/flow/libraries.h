// libraries.h - what a public library has under names: activations, and functions that
// code outside takes from it.
#ifndef NPUFUSE_LIBRARIES_H
#define NPUFUSE_LIBRARIES_H

#include "flow/flow.h"

// Whether `holder` is such a table, or a function that takes the name.
bool library_has_activations(const Val *holder);
// What it has under `key`: an instance, whose `ptr` is another name of its class
// or NULL. NULL where the library is not known, or the name not.
Val *library_activation(Flow *flow, const Val *holder, const Val *key);
// The `approximate` of a class of such a table that is a GELU; else NULL.
const char *library_gelu_kind(Str class_name);

// What a function of the library computes; NULL: none of those that are known.
Val *library_call(Frame *f, Str dotted, Val *const *args, uint32_t nargs);

#endif
