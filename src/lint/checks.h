// checks.h - what is looked for in a call. A check is a function here and a row
// in checks.c.
#ifndef NPUFUSE_CHECKS_H
#define NPUFUSE_CHECKS_H

#include "lint/call.h"
#include "model/lint_finding.h"

enum { LINT_WORK_MAX = 50 * 1000 * 1000 }; // for a file: about a second

// What a check found, before it is a record.
typedef struct Fault {
    LintSeverity severity;
    Node *at; // of the call's module
    Str message, right;
    Str fix;  // in place of bytes fix_start..fix_end of the call's module, or empty
    uint32_t fix_start, fix_end;
} Fault;

typedef struct LintJob {
    Arena *arena; // of the records
    VEC(Fault) faults;
    uint64_t *work; // done for the file so far: nodes and values looked at
    bool cleared; // what the call is given here is right: no warning at the call itself
} LintJob;

typedef void (*CheckFunction)(LintJob *job, const NpuCall *call);

typedef struct Check {
    const char *id;
    CheckFunction run;
    const char *purpose; // one line, for --list-checks
    const char *source;  // where the constraint was read
    bool in_context; // also asked where a function is called that has the call inside
} Check;

extern const Check lint_checks[];
extern const uint32_t lint_check_count;

void check_arguments(LintJob *job, const NpuCall *call);
void check_scale(LintJob *job, const NpuCall *call);
void check_sparse_mask(LintJob *job, const NpuCall *call);
void check_mask_size(LintJob *job, const NpuCall *call);
void check_mask_kind(LintJob *job, const NpuCall *call);
void check_mask_shared(LintJob *job, const NpuCall *call);
void check_lengths(LintJob *job, const NpuCall *call);
void check_group_list(LintJob *job, const NpuCall *call);
void check_tuple(LintJob *job, const NpuCall *call);
void check_in_place(LintJob *job, const NpuCall *call);
void check_gradient(LintJob *job, const NpuCall *call);
void check_removal(LintJob *job, const NpuCall *call);
void check_dtypes(LintJob *job, const NpuCall *call);
void check_limits(LintJob *job, const NpuCall *call);

// Adds to the work done for the file; false once that is too much, and nothing more is
// claimed.
bool lint_may_work(LintJob *job, uint64_t amount);
void lint_fault(LintJob *job, const Fault *fault);
// Whether text may be put behind the expression and speaks of all of it: x, f(x), x[0].
bool lint_takes_suffix(const Node *n);
// The expression as it stands in the call's module.
Str lint_text(const NpuCall *call, const Node *n);
// "line 12", where the value was made; empty where that is another file.
Str lint_place(LintJob *job, const NpuCall *call, const Val *v);

#endif
