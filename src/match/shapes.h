// shapes.h - what the shapes of two values have in common, as far as their making shows.
#ifndef NPUFUSE_SHAPES_H
#define NPUFUSE_SHAPES_H

#include "flow/flow.h"

// Below everything that keeps the shape.
Val *shape_root(Val *v);
// x[..., None], x.unsqueeze(1)
bool adds_axis(const Val *v);
// y.amax(-1, keepdim=True): what is kept of the axis is one element.
bool reduces(const Val *v);
// x[:, :1], x[..., -1:]: one wide along some axis.
bool one_wide(const Val *v);
// Below what is done alike to both: cos.unsqueeze(1) and sin.unsqueeze(1),
// cos[ids] and sin[ids]. Their shapes are one if those below are.
void peel_alike(Val **a, Val **b);

typedef enum PartSizes { PARTS_NONE, PARTS_AS_LONG, PARTS_DIFFER, PARTS_OPEN } PartSizes;

// What the sizes say that one split, or two of narrow, are given: PARTS_NONE of other
// values, PARTS_OPEN where they are written otherwise and may be the same.
PartSizes compare_parts(const Val *a, const Val *b);

#endif
