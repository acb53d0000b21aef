// reached.h - whether a statement runs for tensors on an NPU.
#ifndef NPUFUSE_REACHED_H
#define NPUFUSE_REACHED_H

#include "flow/flow.h"

// The test of a tensor's device by which the statement is left out on an NPU:
//   if x.device.type == "cuda": STMT
//   if x.device.type != "cuda": return ...;  STMT
// NULL: none is in sight in the frame's function.
Node *reached_elsewhere(Frame *f, const Node *stmt);

#endif
