// groups.h - findings that a reader wants to see as one.
//
// The same code copied into many files is one candidate with many places;
// refusals for one reason are one row.
#ifndef NPUFUSE_GROUPS_H
#define NPUFUSE_GROUPS_H

#include "model/finding.h"

typedef struct Group {
    VEC(const Finding *) members; // at least one, in the order of the set
    uint64_t hash;
    uint32_t unknown_count; // unknown facts of the first that no guard holds
    uint32_t guard_count;   // facts of the first that a guard holds
} Group;

typedef VEC(Group) GroupVec;

typedef struct GroupList {
    GroupVec candidates; // recommend and caution, in the order of
                         // verification; last those without a replacement
    uint32_t ready_count; // candidates with a replacement
    GroupVec refused;    // in the order of family, file, line
    uint32_t counts[VERDICT_REJECT + 1]; // findings of each verdict
    uint32_t beyond_count; // findings of no main family that write nothing
} GroupList;

// Everything is in `arena`; the findings are borrowed.
void groups_make(GroupList *out, Arena *arena, const FindingSet *set);
const Finding *group_first(const Group *group);
// Whether it writes nothing, is of low value, and of no main family.
bool finding_is_aside(const Finding *finding);
// The sentence of the summary; empty if the engine gave none.
Str finding_reason(const Finding *finding);

#endif
