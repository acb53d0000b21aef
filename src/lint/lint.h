// lint.h - existing calls of torch_npu against their constraints.
#ifndef NPUFUSE_LINT_H
#define NPUFUSE_LINT_H

#include "lint/call.h"
#include "model/lint_finding.h"

typedef struct LintInput {
    const char *path;
    Str shown;
    Str text; // read in place of the file at `path`
    bool has_text;
} LintInput;

typedef struct LintOptions {
    const LintInput *inputs;
    uint32_t input_count;
    CallBook book;
    void (*progress)(void *data, uint32_t done, uint32_t count); // or NULL
    void *progress_data;
} LintOptions;

// Reads every input; what cannot be read is a note. All is in `run`.
void lint_run(LintSet *out, Arena *run, const LintOptions *options);

#endif
