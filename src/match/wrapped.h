// wrapped.h - fused operators that a function reaches through the project's own wrappers.
#ifndef NPUFUSE_WRAPPED_H
#define NPUFUSE_WRAPPED_H

#include "flow/flow.h"

// Whether another branch of the frame's function than that of `node` gives the result of
// the operator, called through a wrapper in sight:
//   if is_npu_available(): return fused_norm(x, w);  NODE
bool wraps_operator(const Frame *f, const Node *node, Str api);

#endif
