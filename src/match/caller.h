// caller.h - what a function's parameter is where the function is called.
#ifndef NPUFUSE_CALLER_H
#define NPUFUSE_CALLER_H

#include "flow/flow.h"

typedef struct CallSite {
    Val *arg;   // what is given for the parameter; NULL: no call was found
    Node *call; // in the function's own module
} CallSite;

// The first call in the function's module that gives the parameter an argument.
// There may be others: what it shows is true of that call alone.
CallSite find_argument(Frame *frame, const Val *param);

#endif
