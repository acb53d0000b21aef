// inserts.h - what a file needs besides the replaced lines: imports, the
// switch, the device predicate.
#ifndef NPUFUSE_INSERTS_H
#define NPUFUSE_INSERTS_H

#include "match/available.h"
#include "model/finding.h"
#include "py/project.h"

typedef struct InsertWish {
    Module *module;
    Str switch_definition; // module-level statement, or empty
    bool npu;              // the replacement calls torch_npu
    const Module *rule;    // functions of it that the text calls are added
    Str text;              // the replacement
    uint32_t line;         // that it begins at
    Available *available;  // to fill: what the import of torch_npu asks first, if anything
} InsertWish;

// False where the module deletes torch or torch_npu further down: what is inserted would be
// gone when the replacement runs.
bool inserts_last(const InsertWish *wish);
// The pieces for one candidate, in `run`. The pieces of several candidates of
// a file, sorted by (line, order, text) and equal ones taken once, are valid
// together: no piece relies on another of the same line.
void make_inserts(Inserts *out, Arena *run, const InsertWish *wish);

#endif
