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
// The cap that such a run usually gives, by experience; 0: none is known.
double bound_rule_of_thumb(const ProfRun *run);
const char *blend_name(RunBlend blend);

// The bytes of main memory that a call of the kind read and wrote by its counters
// (aic_metrics=MemoryAccess); false where they were not counted.
bool bound_counted_bytes(double *bytes, const ProfKind *kind);

#endif
