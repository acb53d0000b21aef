// maybe.h - the activation that a callable may be, where nothing decides which.
#ifndef NPUFUSE_MAYBE_H
#define NPUFUSE_MAYBE_H

#include "flow/flow.h"

// SiLU, else GELU, where it is one of what the callable may be; NULL if neither.
Val *maybe_activation(Flow *flow, Val *callee);

#endif
