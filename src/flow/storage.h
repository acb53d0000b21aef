// storage.h - which values may hold the same numbers: views, casts that cast nothing,
// what is taken out of a list, either arm of a choice.
#ifndef NPUFUSE_STORAGE_H
#define NPUFUSE_STORAGE_H

#include "flow/flow.h"

enum { ROOTS_MAX = 32 };

// What a value may be a view of, or hold; of more than so many the first.
typedef struct Roots {
    const Val *at[ROOTS_MAX];
    uint32_t len;
} Roots;

void roots_of(Roots *out, const Val *v);
bool roots_hold(const Roots *roots, const Val *root);
bool roots_meet(const Roots *a, const Roots *b);
// Whether the two are different parts of one tensor: a write into one leaves the other.
bool storage_apart(const Val *a, const Val *b);
// Whether a call hands on what it is given, or may.
bool call_may_share(const Val *call);

#endif
