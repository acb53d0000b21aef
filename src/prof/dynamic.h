// dynamic.h - call sites whose shapes change from step to step.
#ifndef NPUFUSE_DYNAMIC_H
#define NPUFUSE_DYNAMIC_H

#include "prof/runs.h"

// Compares the steps of each stream and fills report->dynamic. Steps that run the same
// kernels in the same order are compared place by place: the n-th kernel of a step is
// one call site. Where no two do, kernels are compared by their names.
void dynamic_find(ProfReport *report, Arena *arena);

#endif
