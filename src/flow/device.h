// device.h - tests of a tensor's device, as they come out on an NPU.
#ifndef NPUFUSE_DEVICE_H
#define NPUFUSE_DEVICE_H

#include "flow/flow.h"

// The side of phi(cond, a, b) that counts where the replacement runs: `cond` tells the
// device of a tensor from devices that are no NPU, and that side computes with the tensor,
// which is on an NPU then. NULL: not decided. `x.device.type == "npu"` is left alone, as
// what stands behind it is fused work that is there already.
Val *device_side(const Val *cond, Val *a, Val *b);

// How a test of a tensor's device comes out on an NPU: 1 or 0; -1: it is none, or it asks
// for an NPU.
int device_test(const Val *cond);

#endif
