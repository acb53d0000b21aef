// edits.h - the text of a file with the edits of some candidates in it.
//
// A pure function of the file as it was scanned and of the set of candidates:
// their order does not matter, and what they do not touch stays byte for byte
// as it was, line ends, mark and encoding included.
#ifndef NPUFUSE_EDITS_H
#define NPUFUSE_EDITS_H

#include "base/err.h"
#include "model/finding.h"

typedef struct EditList { // candidates of one file
    const Finding *const *at;
    uint32_t len;
} EditList;

// `text` in place of bytes start..end of the pristine file; an insertion where
// start == end. `at` is its offset in the rendered text.
typedef struct Change {
    size_t start, end, at;
    Str text;
} Change;

typedef struct EditPlace {
    uint32_t start_line, end_line;
} EditPlace;

typedef struct Hunk {
    uint32_t old_line, new_line; // where the code stands, or would
    Str old_code, new_code;      // empty: nothing there
} Hunk;

typedef struct Edits {
    Str pristine, text;
    Change *changes; // sorted, none overlaps another
    Hunk *hunks;     // one for each change
    uint32_t change_count;
    EditPlace *places; // where each candidate's replacement stands in `text`
} Edits;

// Everything in `arena`; an empty list gives the pristine text. Fails where
// two candidates overlap, where the lines are not those that the candidate
// was found in, and where the file's encoding cannot take the text.
MUST_CHECK bool edits_render(Edits *out, Arena *arena, Str pristine, EditList list,
                             Err *err);

#endif
