// rewrite.h - the replacement text of a placed match.
//
// The original lines stand verbatim in the `else`. What the rule's
// replacement() says is written with the user's expressions; conditions that a
// fact proves are folded, the others stay. The result has the dtype that the
// original has in every case: where equality is not proven, a cast to the
// computed dtype is written.
#ifndef NPUFUSE_REWRITE_H
#define NPUFUSE_REWRITE_H

#include "match/available.h"
#include "match/prove.h"
#include "model/finding.h"

typedef struct Rewrite {
    uint32_t start_line, end_line;
    Str original, replacement;
    Inserts inserts;
    Available available; // whose test the import of torch_npu is given, if any
    Str dtype_out;   // of the result, as Python
    bool dtype_cast; // a cast was written
    bool casts_input; // of the input, so that the operator gives the dtype itself
    Str dtype_operator; // of the operator's result without a cast, or empty
    const char *fault;
} Rewrite;

typedef struct RewriteInput {
    const Place *place;
    const Requirements *requirements;
    Str switch_expr; // Python condition, or empty
    Str switch_definition; // module-level statement that it needs, or empty
} RewriteInput;

void rewrite_match(Rewrite *out, Arena *run, const RewriteInput *in);

// A term's text with the parameters' expressions at the start of the span
// (empty if one has none there), or in the fused branch.
Str requirement_text(const Place *place, const Requirement *r, bool at_start);

// "self.dim == -1" at the start of the span; empty if it has no expression there.
// `x.dim() == 4`, where the code counts the last axis of x from the front;
// empty: x has no expression there.
Str last_axis_text(const Place *place, bool at_start);
Str default_text(const Place *place, const DefaultNumber *number);
// What the guard asks of an activation that a default decides; empty: it has no
// expression there.
Str assumption_text(const Place *place, const Assumption *a);

// The term that holds the arm that was taken; empty if it cannot be written.
Str branch_text(const Place *place, const Branch *branch);

#endif
