// inplace.h - which calls write into the tensor that they are given, by how they are spelt.
#ifndef NPUFUSE_INPLACE_H
#define NPUFUSE_INPLACE_H

#include "flow/flow.h"

// F.elu(x, 1.0, True), of which the graph has no row.
bool call_says_inplace(Str callee, Val *const *args, uint32_t nargs);
// nn.Dropout(0.1, inplace=True), nn.ReLU6(True)
bool module_is_inplace(const Val *inst);

#endif
