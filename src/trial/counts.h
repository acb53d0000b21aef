// counts.h - which branch of a candidate ran how often, as the processes of a
// run told it (python/npufuse/counts.py writes these files).
#ifndef NPUFUSE_COUNTS_H
#define NPUFUSE_COUNTS_H

#include "base/arena.h"
#include "base/err.h"
#include "model/json.h"
#include "model/json_read.h"

typedef struct Count {
    uint32_t candidate; // its number in arm.json
    uint64_t rank;
    uint64_t loaded, elsewhere; // processes whose module came from the overlay, from outside
    uint64_t fused, other, emulated; // other: the original statements, the `else`
} Count;

typedef VEC(Count) Counts;

// Adds up the files of the folder by candidate and rank; a file that is short
// or of another kind is left out. No folder: no counts.
MUST_CHECK bool counts_read(Counts *out, Arena *arena, const char *folder, Err *err);
// Of one candidate over all ranks; `rank` is how many there are.
Count counts_sum(const Counts *counts, uint32_t candidate);
void counts_write(Json *json, const Counts *counts); // an array
void counts_from_json(Counts *out, Arena *arena, const JsonVal *array);

#endif
