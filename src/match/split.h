// split.h - attention that two functions compute together: one makes the scores, and
// the other, which gets them as an argument, weighs the values with them.
//
// Calls are read in place, so the whole form is seen where the first calls the second.
// There is no single place to write the operator at: such code is a caution, told once
// for each function that gets the scores, with all that call it.
#ifndef NPUFUSE_SPLIT_H
#define NPUFUSE_SPLIT_H

#include "match/attend.h"
#include "match/site.h"

typedef struct Split {
    Frame *frame; // of the caller
    Str qualname; // its name
    FunctionInfo *helper; // that computes the weights; NULL: written in the caller, or elsewhere
    Val *root; // the product of weights and values
    const Attend *attend;
    const Val *product; // of queries and keys
    const Node *call;
} Split;

typedef VEC(Split) Splits;

// Appends what the frame's function and one that it calls compute together.
void splits_find(Splits *out, Frame *frame, Str qualname);

// The splits of one helper, each caller once.
typedef struct SplitGroup {
    Site site;
    Str qualname; // of the function that the site stands in
    VEC(Span) others; // where the other parts stand
} SplitGroup;

typedef VEC(SplitGroup) SplitGroups;

// Groups the splits of a file. Spans are in `run`.
void splits_group(SplitGroups *out, const Splits *splits, Arena *run);

#endif
