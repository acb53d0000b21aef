// inside.h - matches that lie inside other matches.
#ifndef NPUFUSE_INSIDE_H
#define NPUFUSE_INSIDE_H

#include "match/candidate.h"
#include "model/finding.h"

// A candidate and what became of it.
typedef struct Found {
    const Candidate *candidate;
    Finding *finding;
} Found;

// Where one recommended replacement would contain another, one of the two becomes
// a caution that says so: the inner one, or the outer one if only the inner
// operator has a backward. Text goes to `run`.
void judge_inside(Found *found, uint32_t count, Arena *run);

#endif
