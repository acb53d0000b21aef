// bound.h - what holds a kernel up, and the least time a fused kernel would take.
#ifndef NPUFUSE_BOUND_H
#define NPUFUSE_BOUND_H

#include "prof/runs.h"

// Sums over the places of a kind in its stream.
typedef struct KindGaps {
    uint64_t gap_ns; // idle time of the stream just before
    uint64_t count;
} KindGaps;

// Fills report->bounds from counters, durations, gaps and shapes: whatever of these
// the profile has.
void bound_kinds(ProfReport *report, Arena *arena);
// Fills bound, blend, cap, share and evidence of each run.
void bound_runs(ProfReport *report, Arena *arena);
const char *bound_name(ProfBound bound);
const char *blend_name(RunBlend blend);

// A chip by name ("910B2"); false if the table does not have it.
bool chip_find(ProfChip *out, const char *name);
// "910A|910B1|..." for messages.
const char *chip_names(void);

#endif
