// scan.h - from files to findings: the front half's one entry.
#ifndef NPUFUSE_SCAN_H
#define NPUFUSE_SCAN_H

#include "base/arena.h"
#include "base/err.h"
#include "model/finding.h"

// What a scan's findings rest on besides the rules; see Trace in py/project.h.
typedef struct ScanTraces {
    Arena *arena; // that the paths are copied to
    struct Trace *at;
    uint32_t len, cap;
} ScanTraces;

typedef struct ScanOptions {
    const char *const *rule_folders; // at least one
    uint32_t rule_folder_count;
    Str only_rule;  // empty: every rule
    bool no_filter; // look into every function
    ScanTraces *traces; // to fill, or NULL
    const struct Book *book; // of the installed torch_npu, or NULL
    uint32_t jobs;  // threads; 0: as many as there are processors
    Str root;       // shown in the report
    Str explain_file; // shown path; empty: explain nothing
    uint32_t explain_line;
    void (*explain)(void *data, Str line); // receives explanation lines
    void *explain_data;
    void (*progress)(void *data, uint32_t done, uint32_t count); // or NULL
    void *progress_data;
} ScanOptions;

typedef struct ScanInput {
    const char *path; // to open
    Str shown;        // in findings
    Str text;         // in place of what the file holds, or of standard input
    bool has_text;
} ScanInput;

typedef struct ScanInputs {
    const ScanInput *at;
    uint32_t len;
} ScanInputs;

// Scans every input. Files that cannot be read or decoded are noted in
// `skipped`, syntax faults with their line; both do not fail the scan. Fails
// only on rules that cannot be loaded. Everything in `out` lives in `run`.
MUST_CHECK bool scan_run(FindingSet *out, Arena *run, ScanInputs inputs,
                         const ScanOptions *options, Err *err);

#endif
