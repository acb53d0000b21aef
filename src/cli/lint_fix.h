// lint_fix.h - the fixes of lint findings, as a diff or in the files.
#ifndef NPUFUSE_LINT_FIX_H
#define NPUFUSE_LINT_FIX_H

#include "base/buf.h"
#include "base/err.h"
#include "model/lint_finding.h"

typedef enum FixMode { FIX_SHOWN, FIX_WRITTEN } FixMode;

typedef struct LintFixes {
    Arena *run; // of the notes
    FixMode mode;
    Buf diff; // what the fixes change, file by file; the caller frees it
    uint32_t fixed, files;
    VEC(Str) notes; // what was left alone, and why
} LintFixes;

// Fills the rest of `fixes`, and writes the files where its mode says so. A file that
// is not what the finding was made from is left alone.
MUST_CHECK bool lint_fix(LintFixes *fixes, const LintSet *set, Err *err);

#endif
