// affine.h - plain torch that the NPU is slow at, where another spelling computes
// the same or nearly: writes through a boolean index, sorts of integers, choices by
// `where`, tables of float64 and complex numbers, softmax of scores that a mask fills.
//
// The other spelling is told, with what of it is proven, and never written.
#ifndef NPUFUSE_AFFINE_H
#define NPUFUSE_AFFINE_H

#include "match/site.h"

// Appends the sites of the module, in its order. Texts are in the flow's arena.
void affine_find(NamedSites *out, Flow *flow, Module *module);

#endif
