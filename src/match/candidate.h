// candidate.h - the matches of one function, and which of them count.
#ifndef NPUFUSE_CANDIDATE_H
#define NPUFUSE_CANDIDATE_H

#include "match/place.h"

typedef struct Candidate {
    Match match;
    Place *place; // with the fault, if it has no place
    const EvalRecord *record;
    Val *root; // casts stripped
    bool near;  // a near miss: match failed, but most of it was there
} Candidate;

typedef struct Candidates {
    VEC(Candidate) list;
} Candidates;

// Appends the best candidate of each matched value of the frame: the largest
// alternative first, then the one that can be placed. Near misses come last.
void find_candidates(Candidates *out, Frame *frame, const RuleSet *rules,
                     Str only_rule);

#endif
