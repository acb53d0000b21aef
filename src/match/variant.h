// variant.h - the name of a finding's variant.
#ifndef NPUFUSE_VARIANT_H
#define NPUFUSE_VARIANT_H

#include "match/candidate.h"

// Words joined by `+`: the names of the rule's optional parameters, flags and
// alternatives at this site (`weight+one_plus`, `gate+up+tanh`), then
//   prefix, suffix         the part of the last axis that is rotated
//   cast_last              cast(weight * normalised), not weight * cast(normalised)
//   gate_first, gate_last  a norm's input, or its result, is multiplied by a gate
//   grouped, choice, weights  of attention: key and value heads are repeated,
//                          one branch of several, the weights are returned
// `plain` if there is no word. Lives in `run`.
Str variant_of(Arena *run, const Candidate *c);

#endif
