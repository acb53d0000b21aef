// tensors.h - the cells about shapes, dtypes and formats, read into tensors.
#ifndef NPUFUSE_TENSORS_H
#define NPUFUSE_TENSORS_H

#include "prof/profile.h"

typedef struct TensorCells {
    Str shapes, dtypes, formats; // stripped: "4,2;8", "FLOAT;INT64", "ND;ND"
} TensorCells;

// The tensors of a kernel, in `arena`; at most PROF_MAX_TENSORS. The number of
// shapes counts, a missing dtype is DT_NONE. NULL and *count 0 where there are no
// shapes at all.
ProfTensor *tensors_read(uint8_t *count, Arena *arena, const TensorCells *cells);
ProfDtype tensors_dtype(Str name);

#endif
