// inputs.h - what is known of the tensors that go into a candidate: how they lie
// in memory, in which order their axes stand, and which sizes change from run to
// run.
#ifndef NPUFUSE_INPUTS_H
#define NPUFUSE_INPUTS_H

#include "match/candidate.h"
#include "match/prove.h"

// Adds the facts `contiguity`, `layout` (attention and rope) and
// `dynamic_shape`. What `dynamic_shape` leaves open, signals_settle may close.
void add_input_facts(Finding *out, Arena *run, const Candidate *candidate,
                     const Requirements *all);

#endif
