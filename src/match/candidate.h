// candidate.h - the matches of one function, and which of them count.
#ifndef NPUFUSE_CANDIDATE_H
#define NPUFUSE_CANDIDATE_H

#include "match/place.h"

typedef struct Candidate {
    Frame *frame; // that it was found in
    Match match;
    Place *place; // with the fault, if it has no place
    const EvalRecord *record;
    Val *root; // casts stripped
    const struct Group *group; // where else it may stand (candidate.c)
    uint32_t inner_seen; // of match.seen, without the casts around the result
    bool dropped; // another match covers it
    bool near;  // a near miss: match failed, but most of it was there
    const char *near_why; // of a near miss, where the match itself does not say it
} Candidate;

// A value that is part of a match of the family.
typedef struct MatchPart {
    const Val *val;
    Str family;
} MatchPart;

typedef struct Candidates {
    VEC(Candidate) list;
    MatchPart *parts; // open addressing
    uint32_t part_cap, part_len;
    uint32_t steps; // of all attempts to match
} Candidates;

// Appends the best candidate of each matched value of the frame: the largest
// alternative first, then the one that can be placed. Near misses come last.
void find_candidates(Candidates *out, Frame *frame, const RuleSet *rules,
                     Str only_rule);

#endif
