// assume.h - whether a test of an object's type is enough to know what it computes.
#ifndef NPUFUSE_ASSUME_H
#define NPUFUSE_ASSUME_H

#include "flow/flow.h"

typedef struct Called { // object(args) and what it gives
    const Val *object;
    Val *const *args;
    uint32_t nargs;
    const Val *value;
} Called;

// Notes in `a` what a guard has to ask beside the type of the object: nothing where
// every object of the class gives the same, whatever its constructor was given; the
// function that it hands its input to, where that is all it does; else it is
// untestable.
void assume_by_type(Frame *f, Node *node, Assumption *a, Called called);

#endif
