// trial.h - verification of confirmed candidates: unit precision, then the loss
// of a real run, then its step time. Each candidate stands alone against the
// unchanged code; a precision failure ends it.
//
// The caller renders edits and writes pages; nothing here knows how.
#ifndef NPUFUSE_TRIAL_H
#define NPUFUSE_TRIAL_H

#include "trial/arm.h"
#include "trial/gate.h"
#include "trial/stats.h"

typedef struct TrialCandidate {
    const Finding *finding;
    const char *rule_file;
    Str edits_sha256;
    Str confirmed_by, statement, confirmed_at;
} TrialCandidate;

// The project's files with some candidates in them.
typedef struct TrialEdits {
    VEC(OverlayEdit) files;      // whole texts, also of files that must be reset
    VEC(ArmCandidate) candidates; // where each one stands then
} TrialEdits;

typedef struct TrialHooks {
    void *data;
    // Of the candidates with `in`[number] set; with NULL: the unchanged project,
    // and all candidates as they stand there.
    bool (*render)(void *data, TrialEdits *out, const bool *in, Err *err);
    // Writes the page of a candidate; `report` is its report.json.
    bool (*page)(void *data, const Task *task, Str report, Err *err);
    void (*say)(void *data, Str line); // what is going on
} TrialHooks;

typedef struct Trial {
    Arena *arena;
    const char *work; // the work folder, real path
    const char *root; // of the copies, real path
    Str prefix;       // of the scanned folder, which findings start from, below root
    const char *python; // for the unit stage; NULL: none was found
    Runtime runtime;
    TrialHooks hooks;
    TaskList *tasks;
    const TrialCandidate *candidates; // the tasks of this trial
    uint32_t count;
    bool chinese;
    Str machine;  // equal where runs may be compared with each other
    Str hardware; // for people
    void (*environment)(void *data, Json *json); // the object of a report

    // What the runs of the unchanged code gave; made when first needed.
    bool has_baseline, has_overlay;
    Overlay baseline_overlay;
    TrialEdits baseline_edits; // of it
    ArmResult baseline, again;
    Gate repeat; // the one against the other
    Str baseline_fault; // why there is no baseline to compare with; empty: there is
    bool interrupted;
} Trial;

// Goes through all candidates that are not concluded, and writes down every
// step of the way. False on a fault of the world; what was reached is kept.
MUST_CHECK bool trial_run(Trial *trial, Err *err);
// The unit stage of one candidate alone.
MUST_CHECK bool trial_unit(Trial *trial, uint32_t number, Err *err);
// A few steps of the command with the candidates' inputs recorded, as
// capture.json. *fault says why nothing was recorded; empty: something was.
MUST_CHECK bool trial_capture(Trial *trial, Str *fault, Err *err);

#endif
