// plan.h - what applying or taking back candidates makes of one file; checked
// as far as it can be before anything is written.
#ifndef NPUFUSE_PLAN_H
#define NPUFUSE_PLAN_H

#include "patch/edits.h"
#include "patch/journal.h"

typedef struct PlanWish {
    Str root, file;
    EditSet candidates; // of this file
    bool revert;        // take them out, do not put them in
} PlanWish;

typedef struct Plan {
    FileChange change;
    Edits before, after; // of the pristine file
} Plan;

// Reads the file, writes nothing. Fails for a file that somebody else changed,
// that may not be written (target.h) or cannot take the edits (edits.h), and
// where the result would not parse. Everything is in the journal's arena.
MUST_CHECK bool plan_file(Plan *out, const Journal *journal, const PlanWish *wish, Err *err);

#endif
