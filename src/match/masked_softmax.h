// masked_softmax.h - softmax of scores that a boolean mask fills, where no attention as a
// whole can be fused: npu_scaled_masked_softmax computes scale, fill and softmax at once.
#ifndef NPUFUSE_MASKED_SOFTMAX_H
#define NPUFUSE_MASKED_SOFTMAX_H

#include "match/site.h"

// Whether `v` is one; fills in the site but for its place. Texts are in the flow's arena.
bool masked_softmax_site(Site *out, Flow *flow, Val *v);

#endif
