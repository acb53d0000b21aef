// compiled.h - code that torch.compile captures.
#ifndef NPUFUSE_COMPILED_H
#define NPUFUSE_COMPILED_H

#include "flow/flow.h"

// The place in the module where the function, or the class around it, is given
// to torch.compile; NULL: none is in sight.
Node *compiled_at(Frame *f);

#endif
