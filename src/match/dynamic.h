// dynamic.h - sizes that depend on the data: where a tensor gets one.
#ifndef NPUFUSE_DYNAMIC_H
#define NPUFUSE_DYNAMIC_H

#include "flow/flow.h"

typedef struct Dynamic {
    const char *what; // NULL: nothing was found
    const Val *at;
    bool certain;
    const Node *call; // of the function, that gave the argument which was followed
} Dynamic;

// What gives `v`, a value of the frame's function, a size that changes from run
// to run, the certain ones first.
Dynamic find_dynamic(Frame *frame, const Val *v);

#endif
