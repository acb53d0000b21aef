// lint_finding.h - one existing call of torch_npu that is not what it seems.
//
// The record between src/lint, which reads code, and src/report, which prints.
#ifndef NPUFUSE_LINT_FINDING_H
#define NPUFUSE_LINT_FINDING_H

#include "base/arena.h"

typedef enum LintSeverity {
    LINT_ERROR,   // wrong values, or a call that raises
    LINT_WARNING, // wrong in a case that the source shows to be meant
    LINT_NOTE,    // right today
} LintSeverity;

typedef struct LintFinding {
    Str check; // "scale-left-out"
    LintSeverity severity;
    Str file;
    uint32_t line, column; // 1-based, of what is wrong (the call or an argument)
    uint32_t start, end;   // bytes of it in the file's text
    Str source_line;       // the line's text, for the caret
    Str api;               // "torch_npu.npu_fusion_attention"
    Str message; // what is wrong, one sentence
    Str right;   // the right value, one sentence
    Str source;  // where the constraint was read
    // What is put in place of bytes fix_start..fix_end of the file's text, which are
    // `fix_old`; empty: no fix is proven.
    Str fix, fix_old;
    uint32_t fix_start, fix_end;
    const char *path; // to open
    bool ignored; // by a comment
} LintFinding;

typedef struct LintSet {
    VEC(LintFinding) at; // sorted by file, line, column, check
    uint32_t file_count, call_count;
    uint32_t ignored; // by comments
    VEC(Str) notes;   // files that could not be read, comments that ignore nothing
    Str torch_npu;    // the installed one that arguments were compared with; or empty
} LintSet;

const char *lint_severity_name(LintSeverity severity); // "error"

#endif
