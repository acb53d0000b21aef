// surround.h - what stands around a candidate: regions of autocast, regions
// without gradients, a compiled function, as far as its own function shows.
//
// What the function leaves open is settled by the rest of the scanned files
// (match/signals.h), once all of them are read.
#ifndef NPUFUSE_SURROUND_H
#define NPUFUSE_SURROUND_H

#include "flow/flow.h"
#include "model/finding.h"

// Adds the facts `graph_mode`, `autocast` and `gradient` of the code at `at`,
// each only if the function itself decides it, but `gradient` always: until
// signals_settle its open claim speaks of the operator alone. `autograd` is the
// operator's class (ops/*.py), may be empty.
void add_surround_facts(Finding *out, Arena *run, Frame *frame, const Node *at,
                        Str autograd);

#endif
